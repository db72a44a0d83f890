// The thread of Node.

import { parentPort } from 'node:worker_threads';
import * as api from './node.js';
import { serve } from './thread-core.js';

serve(api, (hear) => parentPort.on('message', hear), (message) => parentPort.postMessage(message));
