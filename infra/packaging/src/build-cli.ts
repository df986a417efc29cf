import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

// Builds the command line for npm into the given folder; its files need only Node. Within the repository, `terrane`
// runs its sources and has more commands, which start or administer an installation.
const root = resolve(import.meta.dirname, '../../..')
const cli = join(root, 'apps/cli')
const out = resolve(process.argv[2] ?? join(cli, 'dist'))

const { version, license } = JSON.parse(await readFile(join(cli, 'package.json'), 'utf8')) as Record<string, string>
await rm(out, { recursive: true, force: true })
await mkdir(out, { recursive: true })
await build({
  entryPoints: { terrane: join(cli, 'src/published.ts') },
  outdir: out,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  // A command loads only its own chunks.
  splitting: true,
  minifyWhitespace: true,
  minifySyntax: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  banner: {
    // CommonJS packages `require` modules of Node. The name differs, because bundled code may import createRequire.
    js: "import { createRequire as requireFrom } from 'node:module'\nconst require = requireFrom(import.meta.url)",
  },
})
await writeFile(join(out, 'completions.json'), JSON.stringify(await completions()))
const manifest = {
  name: '@terrane/cli',
  version,
  description: 'Terrane on the command line: bring data, run jobs, ask for routes.',
  license,
  type: 'module',
  bin: { terrane: 'terrane.js' },
  files: ['terrane.js', 'chunks', 'completions.json'],
  engines: { node: '>=20.20' },
  publishConfig: { access: 'public', provenance: true },
}
await writeFile(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
await cp(join(root, 'LICENSE'), join(out, 'LICENSE'))
await cp(join(cli, 'README.md'), join(out, 'README.md'))

/** Completions for shells. The command line's sources are imported by path, because this package does not depend on it. */
async function completions(): Promise<unknown> {
  const [{ makeProgram }, { commandWords }, { PUBLISHED }] = await Promise.all([
    load('program.ts'),
    load('completion.ts'),
    load('commands/published.ts'),
  ])
  return commandWords(makeProgram(PUBLISHED))
}

function load(path: string) {
  return import(pathToFileURL(join(cli, 'src', path)).href)
}
