import type { OpenScratch } from '../../src/vector/index.ts'

/** Temporary files in memory: counts open files and written bytes, and can run full. */
export function memoryScratch(capacity = Number.POSITIVE_INFINITY) {
  const files: { bytes: Uint8Array; isOpen: boolean }[] = []
  let written = 0
  const open: OpenScratch = () => {
    const file = { bytes: new Uint8Array(0), isOpen: true }
    files.push(file)
    return {
      write(bytes, position) {
        written += bytes.length
        if (written > capacity) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
        if (position + bytes.length > file.bytes.length) {
          const grown = new Uint8Array((position + bytes.length) * 2)
          grown.set(file.bytes)
          file.bytes = grown
        }
        file.bytes.set(bytes, position)
      },
      read(into, position) {
        into.set(file.bytes.subarray(position, position + into.length))
      },
      close() {
        if (!file.isOpen) throw new Error('closed twice')
        file.isOpen = false
      },
    }
  }
  return { open, files, written: () => written }
}
