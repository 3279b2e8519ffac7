// Modules that the examples import, and for which no package here has types.

declare module 'electron';
declare module 'node:fs';
declare module 'node:fs/promises';
declare module 'node:path';
declare module 'node:url';
declare const process: any;
declare const Buffer: any;
