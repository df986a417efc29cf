import { spawn } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileCache } from '@terrane/testing/compile-cache'
import { CHROMIUM, startBrowser } from '../support/browser.ts'
import { ROOT, blocksOf, followedPages, looksAsShown, pagesNotFollowed, type Block } from '../support/pages.ts'
import { START_TIMEOUT_MS, startStack, type RunningStack } from '../support/stack.ts'
import { openWorld, type World } from '../support/world.ts'

// Runs every page of the documentation with terminal commands, block by block, and compares the output.

const E2E = join(ROOT, 'infra/e2e')
const MAPLIBRE = dirname(dirname(fileURLToPath(import.meta.resolve('maplibre-gl'))))
/** Separates the outputs of blocks. */
const MARK = '=====block====='

let stack: RunningStack
let world: World
let folder: string
let programs: string
beforeAll(async () => {
  world = await openWorld()
  stack = await startStack(world.settings)
  folder = await mkdtemp(join(tmpdir(), 'terrane-docs-'))
  await symlink(stack.home, join(folder, '.terrane'))
  // Programs must be in a folder where Node finds their packages.
  programs = await mkdtemp(join(E2E, '.cache-docs-'))
}, START_TIMEOUT_MS)
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
  await rm(programs, { recursive: true, force: true })
})

describe.each(followedPages())('%s', (page) => {
  const blocks = blocksOf(page)

  test('each block for a shell or a program can be read', async () => {
    for (const { language, code, line } of blocks) {
      if (language !== 'sh') continue
      expect(await bash(code, ['-n']), `${page}:${line}`).toMatchObject({ code: 0, errors: '' })
    }
  })

  test('each block does what the page says', async () => {
    const run = blocks.filter(({ language, isElsewhere }) => !isElsewhere && /^(?:sh|ts)$/.test(language))
    const parts = await Promise.all(run.map((block, i) => commandOf(block, `${page.replaceAll(/\W/g, '-')}-${i}.ts`)))
    const { code, output, errors } = await bash(`set -e\n${parts.join(`\necho '${MARK}'\n`)}`)
    expect(code, `${output}${errors}`).toBe(0)
    const outputs = output.split(`${MARK}\n`)
    for (const [i, { shown, line }] of run.entries()) {
      const said = outputs[i] ?? 'nothing: a block before it ended the shell'
      if (shown !== null && !looksAsShown(said, shown)) expect(said, `${page}:${line}`).toBe(shown)
    }
    if (CHROMIUM === undefined) return
    for (const { language, code: html } of blocks) if (language === 'html') await draw(html)
  })
})

test('no page has code that no test runs', () => {
  // The newcomer test and CI start with `npm start` and `npm test` of the first page; the example of the settings is read by
  // infra/settings-docs.ts.
  expect(pagesNotFollowed()).toEqual(['README.md', 'docs/settings.md'])
})

/** Opens a page of a recipe with the address and the key of the stack, and waits until it has drawn. */
async function draw(html: string): Promise<void> {
  const path = join(folder, 'map.html')
  const key = stack.keys['anonKey']!
  await writeFile(
    path,
    html.replace("'TERRANE_URL'", `'${stack.urls.origin}'`).replace("'TERRANE_ANON_KEY'", `'${key}'`),
  )
  await using browser = await startBrowser()
  const tab = await browser.newPage()
  await tab.route('https://unpkg.com/maplibre-gl@6/**', (route) =>
    route.fulfill({
      path: join(MAPLIBRE, new URL(route.request().url()).pathname.replace('/maplibre-gl@6/', '')),
      headers: { 'access-control-allow-origin': '*' },
    }),
  )
  await tab.goto(`file://${path}`)
  await expect.poll(() => tab.evaluate(drawnLayers)).toEqual(['buildings', 'streets'])
}

interface DrawnMap {
  queryRenderedFeatures(): { layer: { id: string } }[]
}

/** Runs in the page: layers with at least one visible feature. */
function drawnLayers(): string[] {
  const { map } = globalThis as { map?: DrawnMap }
  return [...new Set(map?.queryRenderedFeatures().map(({ layer }) => layer.id))].toSorted()
}

/** The shell command for a block: the block itself, or Node with the program. */
async function commandOf({ language, code }: Block, name: string): Promise<string> {
  if (language === 'sh') return code
  const path = join(programs, name)
  await writeFile(path, code)
  return `node '${path}'`
}

async function bash(script: string, args: readonly string[] = []) {
  const tool = `terrane() { node '${join(ROOT, 'apps/cli/src/main.ts')}' "$@"; }`
  const shell = spawn('bash', [...args, '-c', `${tool}\n${script}`], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...compileCache,
      PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      NODE_NO_WARNINGS: '1',
      // The variables of an operator, whose commands are on other pages than those of users.
      DATABASE_URL: stack.urls.database,
      TERRANE_DATABASE_URL: stack.urls.database,
      TERRANE_SECRETS_KEY: stack.keys['secretsKey'],
    },
  })
  const exited = new Promise<number | null>((resolve) => shell.once('close', resolve))
  const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)])
  return { code: await exited, output, errors }
}
