import { Unzlib } from 'fflate'
import { Decompress } from 'fzstd'
import type { DecodedPicture, ProgramAddress } from './platform.ts'

// Browser version of platform.ts. Decoders are JavaScript, or WebAssembly inside the bundle.

/** Collects the output of a decompressor up to `limit` bytes. */
class Collected {
  readonly #bytes: Uint8Array
  #length = 0

  constructor(limit: number) {
    this.#bytes = new Uint8Array(limit)
  }

  add(part: Uint8Array): void {
    if (this.#length + part.length > this.#bytes.length) throw new Error('it holds more than its block')
    this.#bytes.set(part, this.#length)
    this.#length += part.length
  }

  all(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }
}

/** Input bytes per step; output is checked after each step, so that a small input cannot expand without limit. */
const STEP = 1 << 14

export function inflate(stored: Uint8Array, limit: number): Uint8Array {
  const collected = new Collected(limit)
  const stream = new Unzlib((part) => collected.add(part))
  for (let at = 0; at < stored.length; at += STEP) stream.push(stored.subarray(at, at + STEP))
  return collected.all()
}

export function unzstd(stored: Uint8Array, limit: number): Uint8Array {
  const collected = new Collected(limit)
  const stream = new Decompress((part) => collected.add(part))
  for (let at = 0; at < stored.length; at += STEP)
    stream.push(stored.subarray(at, at + STEP), at + STEP >= stored.length)
  return collected.all()
}

export function decodeWebpPicture(): Promise<DecodedPicture> {
  // A browser converts WEBP through its own colours and alpha, which changes stored values.
  return Promise.reject(new Error('WEBP is not read in a browser'))
}

export async function jpegProgram(): Promise<ProgramAddress> {
  const { default: address } = await import('@cornerstonejs/codec-libjpeg-turbo-8bit/decodewasm')
  return { locateFile: () => address }
}

export async function lercProgram(): Promise<ProgramAddress> {
  const { default: address } = await import('lerc/lerc-wasm.wasm')
  return { locateFile: () => address }
}

export function swapBytes({ buffer, byteOffset }: ArrayBufferView, count: number, sampleBytes: number): void {
  const bytes = new Uint8Array(buffer, byteOffset, count * sampleBytes)
  for (let at = 0; at < bytes.length; at += sampleBytes) bytes.subarray(at, at + sampleBytes).reverse()
}
