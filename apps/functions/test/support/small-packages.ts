import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** An empty WebAssembly module that exports a function `answer` which returns 42. */
const ANSWER_WASM = Uint8Array.from([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 10, 1, 6, 97, 110, 115, 119, 101, 114, 0, 0, 10,
  6, 1, 4, 0, 65, 42, 11,
])

/** One package for each thing that packages of others need of the host; files by path, `package.json` as a value. */
const SMALL_PACKAGES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  // As axios and the AWS SDK do: CommonJS, a request by node:http with an agent, a hash, an answer read as a stream.
  'http-client': {
    'package.json': { main: './lib/index.js', browser: './lib/browser.js' },
    'lib/index.js': `const http = require('http'); const { createHash } = require('node:crypto')
      const agent = new http.Agent({ keepAlive: true })
      exports.send = (method, url, body) => new Promise((resolve, reject) => {
        const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'x-md5': createHash('md5').update(body).digest('hex') }
        const request = http.request(url, { method, headers, agent }, async (response) => {
          const parts = []; for await (const part of response) parts.push(part)
          resolve(Buffer.concat(parts).toString())
        })
        request.on('error', reject); request.end(body)
      })`,
    'lib/browser.js': `throw new Error('for browsers')`,
  },
  // As nodemailer does: a protocol of lines over node:net.
  mailer: {
    'package.json': { main: 'index.js' },
    'index.js': `const net = require('net'); const { EventEmitter } = require('events')
      class Mailer extends EventEmitter {
        send({ host, port }, lines) {
          return new Promise((resolve, reject) => {
            const socket = net.connect({ host, port }); const wanted = [...lines]
            socket.setTimeout(10000); socket.on('error', reject)
            socket.on('data', () => { const line = wanted.shift(); if (line === undefined) { socket.end(); this.emit('sent'); resolve() } else socket.write(line + '\\r\\n') })
          })
        }
      }
      module.exports = Mailer; module.exports.default = Mailer`,
  },
  // As PDFKit does: a stream class of the old kind, imports of its own names, fonts by a `require` that it makes.
  pdfkit: {
    'package.json': {
      exports: {
        '.': { node: { import: './js/pdfkit.node.mjs', require: './js/other.js' }, default: './js/other.js' },
      },
      imports: { '#zlib': { node: './lib/node.cjs', default: './js/other.js' }, '#fonts/*': './js/fonts/*' },
    },
    'js/pdfkit.node.mjs': `import { createRequire } from 'module'; import stream from 'stream'; import util from 'util'; import zlib from '#zlib'
      const require$1 = createRequire(import.meta.url)
      function Document() { stream.Readable.call(this); this.text = '' }
      util.inherits(Document, stream.Readable)
      Document.prototype._read = function () {}
      Document.prototype.write = function (text) { this.text += text; return this }
      Document.prototype.end = function () {
        const self = this, font = require$1('#fonts/plain.cjs')
        zlib.deflate(Buffer.from(this.text), function (error, packed) { self.push('%DOC-' + font + ' '); self.push(zlib.inflateSync(packed)); self.push(null) })
      }
      export default Document`,
    'js/fonts/plain.cjs': `module.exports = 'plain'`,
    'lib/node.cjs': `module.exports = require('zlib')`,
    'js/other.js': `throw new Error('not the one for this runtime')`,
  },
  // As SheetJS and JSZip do: one file for every module system, which looks for the one that it is in.
  universal: {
    'package.json': { main: './dist/universal.js' },
    'dist/universal.js': `(function (global, factory) {
        typeof exports === 'object' && typeof module !== 'undefined' ? module.exports = factory() : typeof define === 'function' && define.amd ? define(factory) : global.universal = factory()
      })(this, function () { return { later: function (done) { (typeof setImmediate === 'function' ? setImmediate : setTimeout)(function () { done('later') }) } } })`,
  },
  // As the SDK of the Model Context Protocol does: parts by patterns, and a module of either kind behind each.
  parted: {
    'package.json': {
      type: 'module',
      exports: { './*': { import: './dist/esm/*', require: './dist/cjs/*' }, './hidden/*': null },
    },
    'dist/esm/server/part.js': `export const kind = 'module'`,
    'dist/cjs/package.json': { type: 'commonjs' },
    'dist/cjs/server/part.js': `exports.kind = 'commonjs'`,
    'dist/esm/hidden/part.js': '',
  },
  // As Stripe does: another file for each runtime; and a signature by Web Crypto.
  conditional: {
    'package.json': {
      exports: {
        browser: './browser.js',
        workerd: './worker.js',
        bun: './bun.js',
        deno: './deno.mjs',
        node: './node.js',
        default: './default.js',
      },
    },
    'deno.mjs': `export const sign = async (key, text) => {
        const bytes = (value) => new TextEncoder().encode(value)
        const secret = await crypto.subtle.importKey('raw', bytes(key), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
        return Buffer.from(await crypto.subtle.sign('HMAC', secret, bytes(text))).toString('hex')
      }`,
    ...Object.fromEntries(
      ['browser', 'worker', 'bun', 'node', 'default'].map((name) => [`${name}.js`, `throw new Error('${name}')`]),
    ),
  },
  // As geotiff does: decoders that are loaded when they are needed. As H3 does: one that has WebAssembly beside it.
  decoders: {
    'package.json': { type: 'module', module: './module.js', main: './main.cjs' },
    'module.js': `const decoders = { raw: () => import('./raw.js'), wasm: () => import('./wasm.cjs') }
      export const decode = async (name) => (await decoders[name]()).default()`,
    'raw.js': `export default () => 'raw'`,
    'wasm.cjs': `const fs = require('fs'), path = require('path')
      module.exports = () => new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(path.join(__dirname, 'answer.wasm')))).exports.answer()`,
    'answer.wasm': ANSWER_WASM,
    'main.cjs': `throw new Error('there is a module')`,
  },
  // As Express does: a server that is made of a callable with a prototype, and requires by computed names.
  express: {
    'package.json': { main: 'index.js' },
    'index.js': `'use strict'
      var http = require('node:http'), EventEmitter = require('node:events').EventEmitter
      var proto = { get: function (path, handler) { this.routes.set(path, handler) }, listen: function () { var server = http.createServer(this); return server.listen.apply(server, arguments) } }
      exports = module.exports = function () {
        var app = function (req, res) { res.send = function (text) { res.setHeader('etag', '"1"'); res.end(text) }; app.routes.get(req.url)(req, res) }
        Object.assign(app, EventEmitter.prototype, proto, { routes: new Map() }); return app
      }`,
  },
  // As Fastify does: code that is made when it runs, a thenable, a server that says its address when it listens.
  fastify: {
    'package.json': { main: 'fastify.js', types: 'none.d.ts' },
    'fastify.js': `'use strict'
      const http = require('node:http'); const { channel } = require('node:diagnostics_channel'); const { AsyncResource } = require('node:async_hooks')
      function fastify (options) {
        const routes = Object.create(null); const made = channel('made'); const resource = new AsyncResource('fastify')
        const write = new Function('text', 'return String(text)')
        const server = http.createServer((req, res) => resource.runInAsyncScope(async () => { res.end(write(await routes[req.url]())) }))
        const app = {
          get: (path, handler) => { routes[path] = handler },
          listen: (where, done) => {
            const heard = new Promise((resolve, reject) => { server.once('error', reject); server.listen(where, () => { const { port } = server.address(); if (options && options.logger) console.log(JSON.stringify({ level: 30, port })); resolve('http://127.0.0.1:' + port) }) })
            if (done === undefined) return heard
            heard.then((address) => done(null, address), done)
          } }
        if (made.hasSubscribers) made.publish(app)
        return app
      }
      module.exports = fastify; module.exports.default = fastify; module.exports.fastify = fastify`,
  },
  // As Hono does: classes with private members, and one of them is the whole function.
  hono: {
    'package.json': { type: 'module', exports: { '.': { types: './none.d.ts', import: './index.js' } } },
    'index.js': `export class Hono { #routes = new Map(); get(path, handler) { this.#routes.set(path, handler); return this }
      fetch = (request) => this.#routes.get(new URL(request.url).pathname)({ text: (text) => new Response(text) }) }`,
  },
  // As preact does: elements by a function of a name, or by a module of their own.
  elements: {
    'package.json': { type: 'module', exports: { '.': './index.js', './jsx-runtime': './jsx-runtime.js' } },
    'index.js': `export const h = (tag, props, ...children) => ({ tag, props: props ?? {}, children })
      export const render = ({ tag, props, children }) => '<' + tag + Object.entries(props).map(([k, v]) => ' ' + k + '="' + v + '"').join('') + '>' + children.join('') + '</' + tag + '>'`,
    'jsx-runtime.js': `import { h } from './index.js'
      export const jsx = (tag, { children, ...props }) => h(tag, props, ...[children ?? []].flat()); export const jsxs = jsx`,
  },
}

/** Writes the packages into a folder and returns the path of its `node_modules`. */
export async function writeSmallPackages(folder: string): Promise<string> {
  const packages = join(folder, 'node_modules')
  for (const [name, files] of Object.entries(SMALL_PACKAGES)) {
    for (const [path, content] of Object.entries(files)) {
      const file = join(packages, name, path)
      await mkdir(dirname(file), { recursive: true })
      const isOwn = path === 'package.json'
      const text = isOwn ? JSON.stringify({ name, version: '1.0.0', ...(content as object) }) : JSON.stringify(content)
      const isText = typeof content === 'string' || content instanceof Uint8Array
      await writeFile(file, isText ? content : text)
    }
  }
  return packages
}
