import { TerraneError, datasetFiles, mainOfDataset } from '@terrane/core'

/** Maximum number of data sets that are dropped at once; each is an import of its own. */
const MOST_GROUPS = 20
/** Maximum number of files in a dropped folder. */
const MOST_FILES = 2000

/**
 * The files of a drop. A folder gives all its files except hidden ones, with their path below the drop as their name.
 *
 * @throws FILES_NOT_ONE when a folder has too many files or none
 */
export async function filesOfDrop({ items, files }: DataTransfer): Promise<readonly File[]> {
  // The browser empties the list after the event, so entries are taken before anything is awaited.
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? null)
  if (entries.every((entry) => entry === null || entry.isFile)) return [...files]
  const found: File[] = []
  for (const entry of entries) if (entry) await collect(entry, '', found)
  if (found.length === 0)
    throw new TerraneError('FILES_NOT_ONE', 'invalid', 'there is no file in the folder', {
      hint: 'Drop files, or a folder with files. Hidden files are not read.',
    })
  return found
}

async function collect(entry: FileSystemEntry, folder: string, found: File[]): Promise<void> {
  if (entry.name.startsWith('.')) return
  if (found.length >= MOST_FILES) throw tooMany(`more than ${MOST_FILES} files in a folder`)
  const path = folder + entry.name
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    found.push(new File([file], path, { type: file.type }))
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const read = () => new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
  // A reader returns its entries in parts, and an empty part at the end.
  for (let part = await read(); part.length > 0; part = await read())
    for (const inner of part) await collect(inner, `${path}/`, found)
}

/**
 * The data sets among dropped files: a Shapefile, a MapInfo data set or a folder of a File Geodatabase with all its
 * files, every other file alone.
 *
 * @throws FILES_NOT_ONE when there are too many
 */
export function groupsOf(files: readonly File[]): readonly (readonly File[])[] {
  const names = files.map(({ name }) => name)
  if (mainOfDataset(names) !== null) return [files]
  const groups = new Map<string, File[]>()
  const mains = names.flatMap((name) => datasetFiles(name, names)?.files.map((part) => [part, name] as const) ?? [])
  const mainOf = new Map(mains)
  for (const file of files) {
    const key = /^(?:.*\/)?[^/]+\.gdb(?=\/)/i.exec(file.name)?.[0] ?? mainOf.get(file.name) ?? file.name
    groups.set(key, [...(groups.get(key) ?? []), file])
  }
  if (groups.size > MOST_GROUPS) throw tooMany(`${groups.size} data sets were dropped`)
  return [...groups.values()]
}

function tooMany(message: string): TerraneError {
  return new TerraneError('FILES_NOT_ONE', 'invalid', message, {
    hint: `Drop at most ${MOST_GROUPS} data sets at once, or a zip of them.`,
  })
}
