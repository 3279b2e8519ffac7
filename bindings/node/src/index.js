// EnrollKit for Node.js and Electron: signs users in through the system's browser, and keeps a valid token for months.

export { EnrollClient } from './client.js';
export { Enroll } from './enroll.js';
export { EnrollArgumentError, EnrollError } from './error.js';
export { AccessToken } from './token.js';
