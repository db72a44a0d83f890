// The worker of browsers.

import * as api from './browser.js';
import { serve } from './thread-core.js';

serve(api, (hear) => self.addEventListener('message', ({ data }) => hear(data)), (message) => self.postMessage(message));
