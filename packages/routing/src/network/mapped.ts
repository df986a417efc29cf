import { mappingFailed } from '../errors.ts'

/** Address of a mapped file in the memory of this process; valid in all of its threads. */
export interface MappedMemory {
  readonly address: bigint
  readonly byteLength: number
}

interface System {
  readonly mmap: (
    address: null,
    bytes: number,
    protection: number,
    flags: number,
    file: number,
    offset: number,
  ) => bigint
  readonly munmap: (address: bigint, bytes: number) => number
  readonly view: (address: bigint, bytes: number) => ArrayBuffer
}

// POSIX.1-2024, sys/mman.h; the numbers are those of Linux, macOS and the BSDs.
const PROT_READ = 1
const MAP_SHARED = 1
const MAP_FAILED = 2n ** 64n - 1n

/** Addresses of the buffers of mapped files. */
const addresses = new WeakMap<ArrayBufferLike, bigint>()
let system: Promise<System> | null = null
let unused: FinalizationRegistry<MappedMemory> | null = null

/**
 * Maps an open file into memory for reading: the system loads pages on access, drops them when memory is short, and
 * shares one copy among all processes. The file may be closed afterwards. It must not become shorter while the buffer
 * is in use, or the process ends with SIGBUS: replace it by renaming another file over it. Writing into the buffer ends
 * the process, too. The file is unmapped when the buffer is collected.
 *
 * @param file a descriptor
 * @throws MAPPING_FAILED where the package koffi is missing or the system refuses
 */
export async function mapFile(file: number, byteLength: number): Promise<ArrayBuffer> {
  const { mmap, munmap, view } = await openSystem()
  if (byteLength === 0) return new ArrayBuffer(0)
  const address = mmap(null, byteLength, PROT_READ, MAP_SHARED, file, 0)
  if (address === MAP_FAILED) throw mappingFailed({ reason: `the system refused ${byteLength} bytes` })
  const buffer = view(address, byteLength)
  addresses.set(buffer, address)
  unused ??= new FinalizationRegistry((memory) => munmap(memory.address, memory.byteLength))
  unused.register(buffer, { address, byteLength })
  return buffer
}

/** Address of the mapped file of a buffer; null for other buffers. */
export function mappedMemoryOf(buffer: ArrayBufferLike): MappedMemory | null {
  const address = addresses.get(buffer)
  return address === undefined ? null : { address, byteLength: buffer.byteLength }
}

/**
 * A buffer over a file that another thread of this process has mapped. That thread must keep the mapping while this
 * buffer is used.
 */
export async function viewMapped({ address, byteLength }: MappedMemory): Promise<ArrayBuffer> {
  const { view } = await openSystem()
  const buffer = view(address, byteLength)
  addresses.set(buffer, address)
  return buffer
}

function openSystem(): Promise<System> {
  system ??= load()
  return system
}

async function load(): Promise<System> {
  if (process.platform === 'win32') throw mappingFailed({ reason: 'Windows has no mmap' })
  try {
    const { default: koffi } = await import('koffi')
    const library = koffi.load(null)
    return {
      mmap: library.func('void *mmap(void *, size_t, int, int, int, int64_t)') as System['mmap'],
      munmap: library.func('int munmap(void *, size_t)') as System['munmap'],
      view: (address, bytes) => koffi.view(address, bytes),
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw mappingFailed({ reason: `koffi could not be loaded (${reason})` }, { cause })
  }
}
