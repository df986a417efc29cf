import { FUNCTION_NAME_PATTERN } from '@terrane/contracts/names'

/** A file of the chosen folder. */
export interface ChosenFile {
  /** Path below the folder's own name, with which `webkitRelativePath` begins. */
  readonly path: string
  readonly file: File
}

const ENTRIES = /^index\.(?:[cm]?[jt]s|[jt]sx)$/
const FUNCTION_NAME = new RegExp(FUNCTION_NAME_PATTERN)

/**
 * The files of a chosen folder for a function, and the files that are left out: installed packages, which the build
 * resolves itself, and files that begin with a dot, which may contain secrets.
 */
export function filesOfFolder(files: Iterable<File>): { files: ChosenFile[]; left: string[] } {
  const found: ChosenFile[] = []
  const left: string[] = []
  for (const file of files) {
    const path = file.webkitRelativePath.split('/').slice(1).join('/') || file.name
    if (path.split('/').some((part) => part.startsWith('.') || part === 'node_modules')) left.push(path)
    else found.push({ path, file })
  }
  return { files: found, left }
}

/** Default name of a folder's function: the folder's name, reduced to permitted characters. */
export function functionNameOf(files: Iterable<File>): string {
  const [first] = files
  const folder = first?.webkitRelativePath.split('/')[0] ?? ''
  const name = folder.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-')
  return FUNCTION_NAME.test(name) ? name : ''
}

/** The reason why these files are not a valid function of this name; null if they are. */
export function folderProblem(name: string, files: readonly ChosenFile[]): string | null {
  if (!files.some(({ path }) => ENTRIES.test(path)))
    return 'The folder has no index.ts or index.js: choose the folder of one function.'
  if (!FUNCTION_NAME.test(name)) return 'A name has letters, digits, - and _, such as hello or send-mail.'
  return null
}

/** The bytes of a file as base64. */
export async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const PART = 0x8000
  let text = ''
  for (let at = 0; at < bytes.length; at += PART) text += String.fromCharCode(...bytes.subarray(at, at + PART))
  return btoa(text)
}
