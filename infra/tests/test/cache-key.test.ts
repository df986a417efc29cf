import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isInput, workspacesOf } from '../src/inputs.ts'
import { machineKey } from '../src/machine-key.mjs'
import { ROOT } from '../src/tiers.ts'

// A cached result is reused when its key is the same, so the key must change with everything that the result depends
// on. These tests change those things in a copy of the repository.

const SOURCES = [
  'package.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'turbo.json',
  'tsconfig.base.json',
  'vitest.config.ts',
]
const FOLDERS = ['packages', 'apps', 'infra', 'docs', '.ci', '.github']
const SKIPPED = /\/(?:node_modules|dist|\.cache|\.turbo|\.terrane|\.git)(?:\/|$)/
let copy: string
/** Keys of the unchanged copy. */
let before: Map<string, string>

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'terrane-key-'))
  for (const name of [...SOURCES, ...FOLDERS]) {
    cpSync(join(ROOT, name), join(copy, name), {
      recursive: true,
      filter: (path) => !SKIPPED.test(path.slice(ROOT.length)),
    })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  before = keys()
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

/** Keys of the test tasks by package. */
function keys(env: Readonly<Record<string, string>> = {}, task = 'test'): Map<string, string> {
  const turbo = join(ROOT, 'node_modules', '.bin', 'turbo')
  const output = execFileSync(turbo, ['run', task, '--dry=json'], {
    cwd: copy,
    env: { PATH: process.env['PATH']!, HOME: copy, TURBO_TELEMETRY_DISABLED: '1', ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const { tasks } = JSON.parse(output) as { tasks: { task: string; package: string; hash: string }[] }
  return new Map(
    tasks.filter((entry) => entry.task === task).map((entry) => [entry.package.slice('@terrane/'.length), entry.hash]),
  )
}

/** The packages whose keys differ from those of the unchanged copy. */
function changedKeys(after: Map<string, string>): string[] {
  return [...before.keys()].filter((name) => before.get(name) !== after.get(name))
}

/** Changes files of the copy temporarily, and returns the packages whose keys differ. */
function keysChangedBy(files: Readonly<Record<string, string>>): string[] {
  const saved = Object.keys(files).map((file) => [file, read(file)] as const)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    appendFileSync(join(copy, file), text)
  }
  const after = keys()
  for (const [file, text] of saved) {
    if (text === null) rmSync(join(copy, file))
    else writeFileSync(join(copy, file), text)
  }
  return changedKeys(after)
}

function read(file: string): string | null {
  try {
    return readFileSync(join(copy, file), 'utf8')
  } catch {
    return null
  }
}

describe('the key of a package', () => {
  test('changes with a source of a package that it depends on, and with no other', () => {
    const changed = keysChangedBy({ 'packages/osm/src/index.ts': '\n' })
    expect(changed).toEqual(expect.arrayContaining(['osm', 'routing', 'worker', 'router']))
    expect(changed).not.toContain('core')
    expect(changed).not.toContain('tiling')
  })

  test('changes with a new fixture that is not committed', () => {
    expect(keysChangedBy({ 'packages/tiling/test/fixtures/new.bin': 'x' })).toContain('tiling')
  })

  test('changes with what lies elsewhere and is declared', () => {
    const changed = keysChangedBy({ 'infra/kubernetes/components/autoscaling/worker.yaml': '\n' })
    expect(changed).toEqual(expect.arrayContaining(['kubernetes', 'worker']))
  })

  test('changes with the runner, whose files are all declared', () => {
    const { globalDependencies } = JSON.parse(read('turbo.json')!) as { globalDependencies: string[] }
    const own = ['run.ts', 'observe-file.ts'].flatMap((file) => [
      `infra/tests/src/${file}`,
      ...[...read(`infra/tests/src/${file}`)!.matchAll(/from '\.\/(.*)'/g)].map(
        ([, name]) => `infra/tests/src/${name}`,
      ),
    ])
    expect(globalDependencies).toEqual(expect.arrayContaining([...own, 'vitest.config.ts', 'tsconfig.base.json']))
  })

  test.each(['vitest.config.ts', 'infra/tests/src/observe-file.ts'])('changes with %s', (file) => {
    expect(keysChangedBy({ [file]: '\n' }).toSorted()).toEqual([...before.keys()].toSorted())
  })

  test('changes with the version of a dependency, and of Node, in the lock file', () => {
    const lock = readFileSync(join(copy, 'pnpm-lock.yaml'), 'utf8')
    const versions = { h3: ['h3-js@4.5.0', 'h3-js@4.5.1'], node: ['node@24.21.0', 'node@24.21.1'] } as const
    const changed = Object.values(versions).map(([from, to]) => {
      const version = (name: string) => name.slice(name.indexOf('@', 1) + 1)
      writeFileSync(
        join(copy, 'pnpm-lock.yaml'),
        lock
          .replaceAll(from, to)
          .replaceAll(
            `specifier: ${version(from)}\n        version: ${version(from)}`,
            `specifier: ${version(from)}\n        version: ${version(to)}`,
          ),
      )
      return changedKeys(keys())
    })
    writeFileSync(join(copy, 'pnpm-lock.yaml'), lock)
    expect(changed[0]).toContain('worker')
    expect(changed[1]!.toSorted()).toEqual([...before.keys()].toSorted())
  })

  test.each([
    { DATABASE_URL: 'postgres://127.0.0.1/a' },
    { TERRANE_TEST_SEED: '7' },
    { TERRANE_TEST_ALL: '1' },
    { TERRANE_TEST_MACHINE: 'another' },
    { TERRANE_SHARED: '/elsewhere' },
  ])('changes with the variable of %o', (env) => {
    expect(changedKeys(keys(env)).length).toBe(before.size)
  })

  test('differs between the lanes', () => {
    const postgres = keys({}, 'test:postgres')
    expect(postgres.size).toBeGreaterThan(0)
    for (const [name, key] of postgres) expect(before.get(name)).not.toBe(key)
  })
})

test('the machine is part of the key: its programs and its shared test data', () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-machine-'))
  const env = { PATH: folder, TERRANE_SHARED: join(folder, 'shared') }
  const seen = [machineKey(copy, env)]
  writeFileSync(join(folder, 'ogr2ogr'), '', { mode: 0o755 })
  seen.push(machineKey(copy, env))
  mkdirSync(join(folder, 'shared'))
  writeFileSync(join(folder, 'shared', 'a.tif'), 'x')
  seen.push(machineKey(copy, env))
  writeFileSync(join(folder, 'shared', 'a.tif'), 'xx')
  seen.push(machineKey(copy, env))
  rmSync(folder, { recursive: true })
  expect(new Set(seen).size).toBe(4)
})

test('what tests read has to be in the key', () => {
  expect(workspacesOf('packages/tiling')).toContain('packages/core')
  expect(isInput('packages/tiling', join(ROOT, 'packages/core/src/index.ts'))).toBe(true)
  expect(isInput('packages/tiling', join(ROOT, 'docs/contributing.md'))).toBe(false)
  expect(isInput('packages/core', join(ROOT, 'packages/tiling/src/index.ts'))).toBe(false)
  expect(isInput('packages/core', join(ROOT, 'packages/core-2/src/index.ts'))).toBe(false)
  expect(isInput('packages/core', '/etc/hostname')).toBe(true)
  expect(() => readFileSync(join(ROOT, 'LICENSE'))).toThrow('is not in the key of their cached result')
})
