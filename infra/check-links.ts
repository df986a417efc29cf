import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

// Reports broken relative links of the repository's pages, including anchors, names in `Where is it decided?` that
// their file does not contain, and decisions that no index lists; part of `pnpm check`.

const SIGNPOST = /\]\(([^)]+\.ts)\) \| `(\w+)` \|/g
const root = dirname(import.meta.dirname)
const pages = globSync(['*.md', 'docs/**/*.md', '{packages,apps,infra}/*/*.md'], { cwd: root })
const broken = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const targets = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?[^)]*\)/g)]
  const lost = targets.filter(([, path = '', anchor]) => {
    const target = path === '' ? join(root, page) : join(root, dirname(page), path)
    return !existsSync(target) || (anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor))
  })
  return lost.map(([link]) => `${page}: ${link.slice(2, -1)}`)
})
const index = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8')
for (const path of globSync('docs/decisions/[a-z]*.md', { cwd: root })) {
  if (!index.includes(`(${basename(path)})`)) broken.push(`docs/decisions/README.md: ${basename(path)} is not listed`)
}
// A table row with a file and a name that decides something: `[file](path) | `name``.
for (const [, path = '', name = ''] of readFileSync(join(root, 'docs/architecture.md'), 'utf8').matchAll(SIGNPOST)) {
  const file = join(root, 'docs', path)
  const isThere = existsSync(file) && new RegExp(`^export .*\\b${name}\\b`, 'm').test(readFileSync(file, 'utf8'))
  if (!isThere) broken.push(`docs/architecture.md: ${path} exports no ${name}`)
}
if (broken.length > 0) {
  process.stderr.write(`These links lead nowhere:\n${broken.join('\n')}\n`)
  process.exitCode = 1
}

/** Anchors of a page's headings, as GitHub makes them. */
function anchorsOf(path: string): Set<string> {
  const headings = readFileSync(path, 'utf8').matchAll(/^#{1,6} (.*)$/gm)
  return new Set(
    Array.from(headings, ([, heading = '']) =>
      heading
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .toLowerCase()
        .replaceAll(/\s/g, '-'),
    ),
  )
}
