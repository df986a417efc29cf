/** Addresses in the memory of the database through which another thread interrupts the running statement. */
export interface InterruptWords {
  readonly memory: SharedArrayBuffer
  /** Byte addresses of C variables of the server. */
  readonly interruptPending: number
  readonly queryCancelPending: number
}

/** A server that has begun in this thread. */
export interface LoadedServer {
  readonly words: InterruptWords
  readonly memory: { readonly buffer: SharedArrayBuffer }
  /** Its C stack pointer; the stack grows downwards. */
  readonly stack: { value: number }
  /** Address at which static data and the stack end. */
  readonly endOfData: number
}

/** WebAssembly that this thread has loaded. */
export interface LoadedModules {
  readonly servers: readonly LoadedServer[]
  /** Number of instances, including libraries. */
  readonly instances: number
}

/** Maximum pages of 64 KiB, as in the database's own build; a shared memory must declare a maximum. */
const MOST_PAGES = 32_768
/** Start of the data of the main module; its exported addresses count from here. */
const MEMORY_BASE = 1024
const IMPORT_SECTION = 2
const MEMORY_IMPORT = 2
const SHARED_WITH_MAXIMUM = 3

/** The part of the global WebAssembly that is used here. */
interface Wasm {
  Memory: new (descriptor: { readonly initial: number }) => { readonly buffer: SharedArrayBuffer }
  Module: new (bytes: Bytes) => object
  Instance: new (module: object, imports?: Imports) => Instance
  instantiate(source: Bytes | object, imports?: Imports): Promise<Instance & { readonly instance?: Instance }>
}
type Bytes = ArrayBuffer | ArrayBufferView
type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>
interface Instance {
  readonly exports?: Readonly<Record<string, unknown>>
}
interface WasmGlobal {
  value: number
}

/**
 * Makes every WebAssembly module that this thread loads from now on use shared memory, which other threads can write to
 * while it computes. The modules are built without shared memory, so their memory import is rewritten. The returned
 * list of modules is kept up to date, because creating a database starts a second server.
 */
export function shareMemory(): LoadedModules {
  const wasm = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly
  const { Memory, Module, Instance } = wasm
  const instantiate = wasm.instantiate.bind(wasm)
  const servers: LoadedServer[] = []
  const loaded = { servers, instances: 0 }
  const look = ({ exports = {} }: Instance, imports: Imports = {}) => {
    const { InterruptPending, QueryCancelPending } = exports
    const { memory, __stack_pointer: stack } = imports['env'] ?? {}
    if (!InterruptPending || !QueryCancelPending || !memory || !stack) return
    servers.push({
      words: {
        memory: (memory as LoadedServer['memory']).buffer,
        interruptPending: address(InterruptPending),
        queryCancelPending: address(QueryCancelPending),
      },
      memory: memory as LoadedServer['memory'],
      stack: stack as WasmGlobal,
      endOfData: (stack as WasmGlobal).value,
    })
  }
  // Proxies keep `instanceof` working for memories that the engine creates itself.
  wasm.Memory = new Proxy(Memory, {
    construct: (target, [descriptor]: [{ initial: number }]) =>
      new target(Object.assign({}, descriptor, { maximum: MOST_PAGES, shared: true })),
  })
  wasm.Module = new Proxy(Module, {
    construct: (target, [bytes]: [Bytes]) => new target(withSharedMemory(bytes)),
  })
  wasm.Instance = new Proxy(Instance, {
    construct: (target, [module, imports]: [object, Imports]) => {
      loaded.instances++
      return new target(module, imports)
    },
  })
  wasm.instantiate = async (source, imports) => {
    const isModule = source instanceof Module
    const made = await instantiate(isModule ? source : withSharedMemory(source as Bytes), imports)
    loaded.instances++
    look(isModule ? made : (made.instance ?? made), imports)
    return made
  }
  return loaded
}

function address(exported: unknown): number {
  return MEMORY_BASE + (exported as WasmGlobal).value
}

/** The module with its memory import declared shared; a module without one is returned unchanged. */
function withSharedMemory(source: Bytes): Uint8Array<ArrayBuffer> {
  const bytes =
    source instanceof ArrayBuffer
      ? Buffer.from(source)
      : Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  for (let at = 8; at < bytes.length;) {
    const size = readUnsigned(bytes, at + 1)
    const end = size.next + size.value
    if (bytes[at] === IMPORT_SECTION) {
      const section = rewriteImports(bytes.subarray(size.next, end))
      return Buffer.concat([bytes.subarray(0, at + 1), unsigned(section.length), section, bytes.subarray(end)])
    }
    at = end
  }
  return Buffer.concat([bytes])
}

/** Section of imports: a count, then module, name, kind and type of each (WebAssembly core specification, 5.5.5). */
function rewriteImports(section: Buffer): Buffer {
  const count = readUnsigned(section, 0)
  const parts: Buffer[] = [section.subarray(0, count.next)]
  let at = count.next
  for (let i = 0; i < count.value; i++) {
    const start = at
    for (let name = 0; name < 2; name++) {
      const length = readUnsigned(section, at)
      at = length.next + length.value
    }
    const kind = section[at++]
    if (kind !== MEMORY_IMPORT) {
      at = endOfType(section, at, kind as number)
      parts.push(section.subarray(start, at))
      continue
    }
    const least = readUnsigned(section, at + 1)
    const hasMaximum = ((section[at] as number) & 1) === 1
    parts.push(
      section.subarray(start, at),
      Buffer.from([SHARED_WITH_MAXIMUM]),
      unsigned(least.value),
      unsigned(MOST_PAGES),
    )
    at = hasMaximum ? readUnsigned(section, least.next).next : least.next
  }
  return Buffer.concat(parts)
}

/** Just after the type of a function, table, global or tag. */
function endOfType(section: Buffer, at: number, kind: number): number {
  if (kind === 0) return readUnsigned(section, at).next
  if (kind === 3) return at + 2
  if (kind === 4) return readUnsigned(section, at + 1).next
  const least = readUnsigned(section, at + 2)
  return (section[at + 1] as number) & 1 ? readUnsigned(section, least.next).next : least.next
}

/** LEB128. */
function readUnsigned(bytes: Buffer, start: number): { value: number; next: number } {
  let value = 0
  let shift = 0
  for (let at = start; ; at++) {
    const byte = bytes[at] as number
    value += (byte & 0x7f) * 2 ** shift
    shift += 7
    if (byte < 0x80) return { value, next: at + 1 }
  }
}

function unsigned(value: number): Buffer {
  const bytes: number[] = []
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return Buffer.from([...bytes, left])
    bytes.push((left & 0x7f) | 0x80)
  }
}
