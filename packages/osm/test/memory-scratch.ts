import type { ScratchFile } from '../src/index.ts'

/** Temporary files in memory: counts the opened and the open ones, and can run full. */
export function memoryScratch(capacity = Number.POSITIVE_INFINITY) {
  const state = { opened: 0, open: 0, written: 0 }
  const openScratch = (): ScratchFile => {
    let bytes = new Uint8Array(0)
    let isOpen = true
    state.opened++
    state.open++
    return {
      write(from, position) {
        state.written += from.length
        if (state.written > capacity) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
        if (position + from.length > bytes.length) {
          const grown = new Uint8Array((position + from.length) * 2)
          grown.set(bytes)
          bytes = grown
        }
        bytes.set(from, position)
      },
      read(into, position) {
        into.set(bytes.subarray(position, position + into.length))
      },
      close() {
        if (!isOpen) throw new Error('closed twice')
        isOpen = false
        state.open--
      },
    }
  }
  return { state, openScratch }
}
