import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { checkpoint } from './rewind.ts'

const PAGE = 1 << 16
const PAGES = 130

/** A server whose memory has random bytes in every second page, and zeros in the others. */
function randomServer(random: () => number) {
  const words = { memory: new SharedArrayBuffer(4), interruptPending: 0, queryCancelPending: 0 }
  const memory = { buffer: new SharedArrayBuffer(PAGES * PAGE) }
  for (let page = 0; page < PAGES; page += 2)
    new Uint8Array(memory.buffer)[page * PAGE + Math.floor(random() * PAGE)] = 1 + Math.floor(random() * 255)
  return { words, memory, stack: { value: 7 }, endOfData: 9 }
}

/** Two files in a folder, in the same row of the name table. One is open, with contents like those of a snapshot. */
function smallFileSystem() {
  const open = { name: 'open', mode: 1, contents: Buffer.of(1, 2, 3), usedBytes: 2 }
  const closed = { name: 'closed', mode: 1, contents: null as Uint8Array | null, usedBytes: 0, name_next: open }
  const folder = { name: 'folder', contents: { open, closed } as Record<string, object> }
  const stream = { node: open, fd: 1, shared: { position: 5, flags: 0 } }
  const files = { nameTable: [closed, undefined, folder], streams: [null, stream], nextInode: 4, currentPath: '/' }
  return { files, open, closed, folder, stream }
}

test('every page of the memory is put back, and what it has grown by is zero', () => {
  const random = seededRandom(3)
  const server = randomServer(random)
  const before = Buffer.from(server.memory.buffer.slice(0))
  const rewind = checkpoint(server, smallFileSystem().files, () => 1)
  for (let round = 0; round < 2; round++) {
    const grown = new SharedArrayBuffer((PAGES + 3) * PAGE)
    const bytes = Buffer.from(grown)
    bytes.set(new Uint8Array(server.memory.buffer).subarray(0, PAGES * PAGE))
    for (let page = 0; page < PAGES + 3; page++) bytes[page * PAGE + Math.floor(random() * PAGE)]! ^= 0xff
    server.memory.buffer = grown
    server.stack.value = 1
    expect(rewind()).toBe(true)
    expect(server.stack.value).toBe(7)
    expect(bytes.subarray(0, PAGES * PAGE).equals(before)).toBe(true)
    expect(bytes.subarray(PAGES * PAGE).every((byte) => byte === 0)).toBe(true)
  }
})

test('files that were written, removed, renamed, made or opened are as before', () => {
  const { files, open, closed, folder, stream } = smallFileSystem()
  const before = structuredClone(files)
  const rewind = checkpoint(randomServer(seededRandom(4)), files, () => 1)
  for (let round = 0; round < 2; round++) {
    open.contents.fill(9)
    Object.assign(closed, { contents: Uint8Array.of(4), usedBytes: 1, name: 'renamed', name_next: undefined, extra: 1 })
    delete folder.contents['open']
    folder.contents['made'] = {}
    Object.assign(stream.shared, { position: 8, own: 1 })
    Object.assign(files, { nextInode: 9, currentPath: '/tmp' })
    files.nameTable[1] = folder
    files.streams.push({ ...stream, fd: 2 })
    files.streams[1] = null
    expect(rewind()).toBe(true)
    expect(files).toEqual(before)
    expect([files.streams[1], files.nameTable[0], folder.contents['open']]).toEqual([stream, closed, open])
  }
})

test('a server that has loaded a library since cannot return', () => {
  let instances = 1
  const { files } = smallFileSystem()
  const rewind = checkpoint(randomServer(seededRandom(5)), files, () => instances)
  instances = 2
  expect(rewind()).toBe(false)
})
