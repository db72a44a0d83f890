// The entry with the module in it as text, for places that serve or bundle no other files.

import { setUsualSource } from './engine.js';
import { MODULE } from './module-base64.js';

setUsualSource(async () => Uint8Array.from(atob(MODULE), (letter) => letter.charCodeAt(0)));

export * from './api.js';
