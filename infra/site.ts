import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

// Builds the site of the documentation into out/site (or TERRANE_SITE_OUT).
// The generator is installed beside it at the first run, from the npm registry.

const root = dirname(import.meta.dirname)
const tools = join(root, 'infra/peers/site')
const bin = join(tools, 'node_modules/.bin')

if (!existsSync(join(bin, 'vitepress'))) {
  run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'], tools)
}
// The generator resolves its packages from the folder of the pages and the configuration.
for (const folder of ['.vitepress', 'pages']) rmSync(join(tools, folder), { recursive: true, force: true })
cpSync(join(root, 'infra/site'), join(tools, '.vitepress'), { recursive: true })
for (const path of globSync(['README.md', 'AGENTS.md', 'docs/**/*.{md,jpg}', '{packages,apps}/*/README.md'], {
  cwd: root,
})) {
  cpSync(join(root, path), join(tools, 'pages', path))
}
run(join(bin, 'vitepress'), ['build', '.'], tools)

function run(program: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(program, args, { cwd, stdio: 'inherit', shell: false })
  if (status !== 0) process.exit(status ?? 1)
}
