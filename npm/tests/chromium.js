// Headless Chromium, driven over a pipe by its DevTools protocol.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** The program; nothing where none is installed. */
export const CHROMIUM = process.env.CHROMIUM ?? ['chromium', 'chromium-browser', 'google-chrome'].find((name) => spawnSync(name, ['--version']).status === 0);

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--lang=en-US'];

/** Starts the browser with these flags; `end` ends it and takes its profile away. */
export function startChromium(flags, stdio = 'ignore') {
  const profile = mkdtempSync(join(tmpdir(), 'foretell-chromium-'));
  const process = spawn(CHROMIUM, [...FLAGS, `--user-data-dir=${profile}`, ...flags], { stdio });
  const end = async () => {
    process.kill();
    await new Promise((resolve) => process.once('exit', resolve));
    // Its other processes may write to it a little longer.
    rmSync(profile, { recursive: true, force: true, maxRetries: 30 });
  };
  return { process, end };
}

/** A page of a browser of its own. */
export class Page {
  #browser;
  #number = 0;
  #waiting = new Map();
  #session;
  /** What the page wrote to its console, and the addresses that it asked. */
  messages = [];
  asked = [];

  static async open(address) {
    const page = new Page();
    page.#browser = startChromium(['--remote-debugging-pipe', 'about:blank'], ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']);
    page.#listen(page.#browser.process.stdio[4]);
    const { targetInfos } = await page.send('Target.getTargets');
    const { targetId } = targetInfos.find(({ type }) => type === 'page') ?? (await page.send('Target.createTarget', { url: 'about:blank' }));
    page.#session = (await page.send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
    for (const part of ['Page', 'Runtime', 'Log', 'Network', 'DOM']) await page.send(`${part}.enable`);
    // Workers wait until what they ask is seen, too.
    await page.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
    await page.send('Page.navigate', { url: address });
    return page;
  }

  /** Messages end with a byte of 0. */
  #listen(pipe) {
    let rest = '';
    pipe.setEncoding('utf8');
    pipe.on('data', (text) => {
      const parts = (rest + text).split('\0');
      rest = parts.pop();
      parts.forEach((part) => this.#hear(JSON.parse(part)));
    });
  }

  #hear({ id, result, error, method, params }) {
    if (id !== undefined) {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      return error ? reject(new Error(error.message)) : resolve(result);
    }
    if (method === 'Target.attachedToTarget') {
      for (const begun of ['Network.enable', 'Runtime.runIfWaitingForDebugger']) this.send(begun, {}, params.sessionId).catch(() => {});
    }
    if (method === 'Network.requestWillBeSent') this.asked.push(params.request.url);
    if (method === 'Runtime.exceptionThrown') this.messages.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Log.entryAdded') this.messages.push(params.entry.text);
  }

  /** Sends a command of the protocol, and gives its result. */
  send(method, params = {}, sessionId = this.#session) {
    this.#number += 1;
    const id = this.#number;
    this.#browser.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** The value of an expression in the page. */
  async value(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true, and says which where it never is. */
  async until(expression) {
    for (let tries = 0; tries < 600; tries += 1) {
      if (await this.value(expression)) return;
      await pause(50);
    }
    throw new Error(`it never came to be: ${expression}; the page says ${await this.value('document.body.innerText')}`);
  }

  /** Presses a key. */
  async press(key, text) {
    for (const type of ['keyDown', 'keyUp']) {
      await this.send('Input.dispatchKeyEvent', { type, key, code: key, text: type === 'keyDown' ? text : undefined, windowsVirtualKeyCode: { Tab: 9, Enter: 13 }[key] });
    }
  }

  /** Drops a file onto the middle of the page. */
  async drop(file) {
    const data = { items: [], files: [file], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop']) await this.send('Input.dispatchDragEvent', { type, x: 200, y: 200, data });
  }

  /** Shows the page on a screen of this width. */
  async resize(width, height = 900) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** A picture of the page, as PNG. */
  async picture(scheme) {
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    const { cssContentSize: size } = await this.send('Page.getLayoutMetrics');
    const clip = { x: 0, y: 0, width: size.width, height: size.height, scale: 1 };
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', clip, captureBeyondViewport: true });
    return Buffer.from(data, 'base64');
  }

  close() {
    return this.#browser.end();
  }
}
