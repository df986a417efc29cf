import type { LoadedServer } from './shared-memory.ts'

/** A file, folder or device of Emscripten's in-memory file system. */
interface FileNode {
  contents?: Uint8Array | Record<string, FileNode> | null
  name_next?: FileNode
}

/** An open file. */
interface FileStream {
  node: FileNode
  shared: object
}

/** The parts of Emscripten's file system that change while the server runs. */
export interface FileSystemState {
  nameTable: (FileNode | undefined)[]
  streams: (FileStream | null | undefined)[]
  nextInode: number
  currentPath: string
}

/** Bytes that are compared and copied at a time. */
const PAGE = 1 << 16
const ZEROS = Buffer.alloc(PAGE)

/** Saves an idle server: memory, stack pointer, files. The function restores them unless a library was loaded since. */
export function checkpoint(server: LoadedServer, files: FileSystemState, instances: () => number): () => boolean {
  const libraries = instances()
  const pages = pagesOf(server).map((page) => (page.equals(ZEROS) ? ZEROS : Buffer.from(page)))
  const stack = server.stack.value
  const putFilesBack = saveFiles(files)
  return () => {
    if (instances() !== libraries) return false
    for (const [index, page] of pagesOf(server).entries()) {
      const saved = pages[index] ?? ZEROS
      if (!page.equals(saved)) saved.copy(page)
    }
    server.stack.value = stack
    putFilesBack()
    return true
  }
}

/** The present memory in pages: it grows, and never shrinks. */
function pagesOf({ memory }: LoadedServer): Buffer[] {
  const { buffer } = memory
  return Array.from({ length: buffer.byteLength / PAGE }, (_, index) => Buffer.from(buffer, index * PAGE, PAGE))
}

function saveFiles(files: FileSystemState): () => void {
  const { nextInode, currentPath } = files
  const nameTable = [...files.nameTable]
  const streams = [...files.streams]
  const nodes = new Set(streams.flatMap((stream) => (stream ? [stream.node] : [])))
  for (const first of nameTable) for (let node = first; node; node = node.name_next) nodes.add(node)
  const putBack = [
    ...[...nodes].map(saveNode),
    ...streams.flatMap((stream) => (stream ? [saveProperties(stream), saveProperties(stream.shared)] : [])),
  ]
  return () => {
    for (const put of putBack) put()
    Object.assign(files, { nextInode, currentPath, nameTable: [...nameTable], streams: [...streams] })
  }
}

function saveNode(node: FileNode): () => void {
  const putPropertiesBack = saveProperties(node)
  const { contents } = node
  if (!contents) return putPropertiesBack
  const saved = copyOf(contents)
  return () => {
    putPropertiesBack()
    node.contents = copyOf(saved)
  }
}

/** Files of a snapshot are Buffers, whose `slice` would be a view. */
function copyOf(contents: NonNullable<FileNode['contents']>): NonNullable<FileNode['contents']> {
  return contents instanceof Uint8Array ? Uint8Array.from(contents) : { ...contents }
}

function saveProperties(object: object): () => void {
  const saved = { ...object }
  return () => {
    for (const key of Object.keys(object)) if (!Object.hasOwn(saved, key)) Reflect.deleteProperty(object, key)
    Object.assign(object, saved)
  }
}
