// Determines the changes since a commit that are relevant for long suites.
import { spawnSync } from 'node:child_process'
import { parseSync } from 'oxc-parser'
import { ROOT, folderOf, supportOf } from './tiers.ts'

/** The changes of the commit at HEAD against an earlier one. */
export interface Changes {
  /** The earlier commit. */
  readonly since: string
  /** Packages whose behaviour may have changed, with their changed lines, apart from documents, comments and tests. */
  readonly folders: ReadonlyMap<string, number>
  /** Whether one of the files, or a support file that it imports, was changed. */
  touch(files: readonly string[]): boolean
}

/** Changes since `last` when HEAD descends from it, or else since the last commit that is a day older than HEAD. */
export function changesSince(last: string | undefined, root = ROOT): Changes {
  const git = (...args: string[]): string | null => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })
    return status === 0 ? stdout : null
  }
  const isKnown = last !== undefined && last !== '' && git('merge-base', '--is-ancestor', last, 'HEAD') !== null
  const since = isKnown ? last : dayBefore(git)
  if (!since) throw new Error('long suites: this is not a git repository; set TERRANE_TEST_ALL=1 to run all of them')
  const lines = (git('diff', '--numstat', '--no-renames', since, 'HEAD') ?? '').split('\n')
  const changed = new Map(lines.map(linesOfFile).filter(([path]) => path.split('/').length > 2))
  const folders = new Map<string, number>()
  for (const [path, count] of changed) {
    const sum = folders.get(folderOf(path))
    if (isDocumentOrTest(path)) continue
    // Once a package has changed, no further file of it is compared.
    if (sum !== undefined || !differsInCommentsOnly(path, git('show', `${since}:${path}`), git('show', `HEAD:${path}`)))
      folders.set(folderOf(path), (sum ?? 0) + count)
  }
  return {
    since,
    folders,
    touch: (files) => files.some((file) => [file, ...supportOf(file)].some((path) => changed.has(path))),
  }
}

/** Path and changed lines of a line of `git diff --numstat`; a binary file counts as one line. */
function linesOfFile(line: string): [path: string, lines: number] {
  const [added = '', deleted = '', path = ''] = line.split('\t')
  return [path, added === '-' ? 1 : Number(added) + Number(deleted)]
}

/** Whether TypeScript texts differ only in comments and empty lines; null: the file does not exist. */
export function differsInCommentsOnly(path: string, before: string | null, after: string | null): boolean {
  if (before === null || after === null || !/\.[cm]?tsx?$/.test(path)) return false
  return withoutComments(path, before) === withoutComments(path, after)
}

/** True for documents and tests, which do not affect behaviour; not for fixtures, which other packages may read. */
function isDocumentOrTest(path: string): boolean {
  return path.endsWith('.md') || path.endsWith('.test.ts') || /^[^/]+\/[^/]+\/test\/.*\.ts$/.test(path)
}

function withoutComments(path: string, text: string): string {
  const { comments, errors } = parseSync(path, text)
  if (errors.length > 0) return text
  let code = ''
  let end = 0
  for (const comment of comments) {
    code += text.slice(end, comment.start)
    end = comment.end
  }
  const lines = `${code}${text.slice(end)}`.split('\n').map((line) => line.trimEnd())
  return lines.filter((line) => line !== '').join('\n')
}

function dayBefore(git: (...args: string[]) => string | null): string {
  const day = new Date(Date.parse((git('log', '-1', '--format=%cI') ?? '').trim()) - 86_400_000)
  if (Number.isNaN(day.getTime())) return ''
  const found = git('rev-list', '-1', `--before=${day.toISOString()}`, 'HEAD')?.trim()
  return found || (git('rev-list', '--max-parents=0', 'HEAD') ?? '').trim()
}
