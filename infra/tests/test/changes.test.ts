import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changesSince, differsInCommentsOnly } from '../src/changes.ts'

const SOURCE = `/** Doubles. */\nexport const double = (n: number) => n * 2 // twice\n`

test.each([
  ['another comment', '/** Twice as much. */\nexport const double = (n: number) => n * 2\n', true],
  ['an empty line', `${SOURCE}\n`, true],
  ['other code', SOURCE.replace('n * 2', 'n * 3'), false],
  ['a string that looks like a comment', SOURCE.replace('n * 2', '`${n}// twice`'), false],
  ['code that is commented out', SOURCE.replace('export', '// export'), false],
  ['code that does not parse', `${SOURCE} // \n)`, false],
  ['no file', null, false],
])('%s differs in comments only or not', (_, after, expected) => {
  expect(differsInCommentsOnly('a.ts', SOURCE, after)).toBe(expected)
})

test('a file of another language is compared whole', () => {
  expect(differsInCommentsOnly('a.sql', 'select 1 -- one\n', 'select 1\n')).toBe(false)
})

describe('changes since a commit', () => {
  const root = mkdtempSync(join(tmpdir(), 'terrane-changes-'))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  /** Commits files at a date and returns the commit. */
  function commit(files: Readonly<Record<string, string>>, date: string): string {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    }
    git('add', '.')
    const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
    const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org']
    // oxlint-disable-next-line node/no-process-env -- git is looked up on PATH.
    execFileSync('git', [...who, 'commit', '-q', '-m', 'x'], { cwd: root, env: { ...process.env, ...env } })
    return git('rev-parse', 'HEAD')
  }
  const commits: Record<string, string> = {}
  beforeAll(() => {
    git('init', '-q')
    commits['first'] = commit(
      { 'packages/a/src/a.ts': SOURCE, 'packages/b/src/b.ts': SOURCE, 'packages/c/src/c.ts': SOURCE },
      '2026-01-01T00:00:00Z',
    )
    commits['second'] = commit(
      {
        'packages/a/src/a.ts': SOURCE.replace('n * 2', '2 * n'),
        'packages/b/src/b.ts': SOURCE.replace('twice', 'two times'),
        'packages/b/README.md': 'words',
        'packages/b/test/b.test.ts': 'a test',
        'packages/b/test/support/town.ts': SOURCE,
        'packages/c/test/fixtures/a.json': '{}',
        'packages/c/test/long/c.long.test.ts': 'a suite',
        'packages/d/src/new.ts': SOURCE,
        'docs/page.md': 'words',
      },
      '2026-01-03T00:00:00Z',
    )
  })
  afterAll(() => rmSync(root, { recursive: true }))

  test('comments, documents and tests leave a package as it was; a suite that was edited is changed', () => {
    const changes = changesSince(commits['first'], root)
    expect(Object.fromEntries(changes.folders)).toEqual({ 'packages/a': 2, 'packages/c': 1, 'packages/d': 2 })
    expect(changes.touch(['packages/c/test/long/c.long.test.ts'])).toBe(true)
    expect(changes.touch(['packages/b/test/long/other.long.test.ts'])).toBe(false)
  })

  test('nothing changed since the commit itself', () => {
    expect([...changesSince(commits['second'], root).folders]).toEqual([])
  })

  test.each([undefined, '', 'ffffffffffffffffffffffffffffffffffffffff'])(
    'the base is the last commit a day older when none has passed (%s)',
    (last) => {
      expect(changesSince(last, root).since).toBe(commits['first'])
    },
  )

  test('a folder without a repository is an error that says what to do', () => {
    const none = mkdtempSync(join(tmpdir(), 'terrane-none-'))
    expect(() => changesSince(undefined, none)).toThrow('TERRANE_TEST_ALL=1')
    rmSync(none, { recursive: true })
  })
})
