import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

const BYTES = 'wasm-bytes'

/** The part of WebAssembly's JavaScript interface that is used; Node's own types lack it. */
interface Wasm {
  validate(bytes: Uint8Array): boolean
  readonly Module: {
    new (bytes: Uint8Array): object
    imports(module: object): { readonly module: string }[]
    exports(module: object): { readonly name: string }[]
  }
}
const wasm = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly

/**
 * The esbuild plugin for `.wasm` files: their bytes as the default export. A module that imports only from modules
 * beside it also gets its own exports, as in the WebAssembly ES module integration.
 */
export function wasmModules(): Plugin {
  return {
    name: 'wasm modules',
    setup(build) {
      build.onResolve({ filter: /^bytes:/, namespace: 'file' }, ({ path }) => ({
        path: path.slice('bytes:'.length),
        namespace: BYTES,
      }))
      build.onLoad({ filter: /.*/, namespace: BYTES }, async ({ path }) => ({
        contents: await readFile(path),
        loader: 'binary',
      }))
      build.onLoad({ filter: /\.wasm$/, namespace: 'file' }, async ({ path }) => {
        const bytes = await readFile(path)
        const module = wasm.validate(bytes) ? new wasm.Module(bytes) : null
        return { contents: module ? glue(path, module) : bytes, loader: module ? 'js' : 'binary' }
      })
    },
  }
}

function glue(path: string, module: object): string {
  const lines = [`import bytes from ${JSON.stringify(`bytes:${path}`)}`, 'export default bytes']
  const from = [...new Set(wasm.Module.imports(module).map((entry) => entry.module))]
  const names = wasm.Module.exports(module).map(({ name }) => name)
  const isOurs = from.every((name) => name.startsWith('.'))
  if (!isOurs || names.length === 0) return lines.join('\n')
  from.forEach((name, i) => lines.push(`import * as from${i} from ${JSON.stringify(name)}`))
  const given = from.map((name, i) => `${JSON.stringify(name)}: from${i}`)
  lines.push(`const made = new WebAssembly.Instance(new WebAssembly.Module(bytes), { ${given.join(', ')} }).exports`)
  names.forEach((name, i) => {
    if (name !== 'default')
      lines.push(`const out${i} = made[${JSON.stringify(name)}]; export { out${i} as ${JSON.stringify(name)} }`)
  })
  return lines.join('\n')
}
