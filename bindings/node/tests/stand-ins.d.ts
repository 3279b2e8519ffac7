// What the examples import and no package here has types for.

declare module 'electron';
declare module 'node:fs';
declare module 'node:fs/promises';
declare module 'node:path';
declare module 'node:url';
declare const process: any;
declare const Buffer: any;
