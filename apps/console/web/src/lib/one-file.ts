import { TerraneError, datasetFiles, mainOfDataset } from '@terrane/core'

/**
 * One file from a choice of files: the file itself, or the files of a Shapefile, of a MapInfo data set or of a folder
 * of a File Geodatabase as a zip.
 *
 * @throws FILES_NOT_ONE with the missing files, or when the files do not belong together
 */
export async function oneFile(files: readonly File[]): Promise<File> {
  const names = files.map(({ name }) => name)
  const main = mainOfDataset(names)
  const database = databasePath(names[0] ?? '')
  if (database !== null) return zipOf(files, `${database.split('/')[0]}.zip`)
  if (main === null) {
    if (files.length === 1) return plainNamed(files[0]!)
    throw refusal(
      `${names.length} files were chosen`,
      'Upload one file at a time, or a zip. Only the parts of a Shapefile or MapInfo data set can be chosen together.',
    )
  }
  const { stem, missing } = datasetFiles(main, names)!
  if (missing.length > 0) {
    const others = missing.map((ending) => `${stem}.${ending}`).join(' and ')
    throw refusal(
      `${main} is incomplete`,
      `Choose it together with ${others}, and ${stem}.prj if there is one, or choose a zip of all.`,
    )
  }
  return zipOf(files, `${baseOf(stem)}.zip`)
}

/** The path of a file from the folder of its File Geodatabase on; null for other files. */
function databasePath(path: string): string | null {
  const folders = path.split('/')
  const at = folders.findIndex((name, i) => i < folders.length - 1 && /\.gdb$/i.test(name))
  return at < 0 ? null : folders.slice(at).join('/')
}

const baseOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

/** A file of a folder under its own name. */
function plainNamed(file: File): File {
  return file.name.includes('/') ? new File([file], baseOf(file.name), { type: file.type }) : file
}

/** An uncompressed zip of files, each under the path that `pathOf` gives. */
export async function zipOf(
  files: readonly File[],
  name: string,
  pathOf: (file: File) => string = ({ name: path }) => databasePath(path) ?? baseOf(path),
): Promise<File> {
  return new File(await pack(files, pathOf), name, { type: 'application/zip' })
}

async function pack(files: readonly File[], pathOf: (file: File) => string): Promise<BlobPart[]> {
  // The code is loaded only for data sets of several files.
  const { Zip, ZipPassThrough } = await import('fflate')
  const parts: BlobPart[] = []
  const zip = new Zip((error, bytes) => {
    if (error) throw error
    parts.push(bytes)
  })
  for (const file of files) {
    const entry = new ZipPassThrough(pathOf(file))
    zip.add(entry)
    const reader = file.stream().getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) entry.push(next.value)
    entry.push(new Uint8Array(), true)
  }
  zip.end()
  return parts
}

function refusal(message: string, hint: string): TerraneError {
  return new TerraneError('FILES_NOT_ONE', 'invalid', message, { hint })
}
