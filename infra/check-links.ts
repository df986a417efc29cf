import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

// Reports broken relative links of the repository's pages, including anchors, names in `Where is it decided?` that
// their file does not contain, and decisions that no index lists; part of `pnpm check`.

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
// A row of `Where is it decided?`: a question, links to files, and names of which one file has each.
const rows = readFileSync(join(root, 'docs/architecture.md'), 'utf8').match(/^\| .*\?.* \| \[.*\|$/gm) ?? []
if (rows.length === 0) broken.push('docs/architecture.md: it has no rows of `Where is it decided?`')
for (const row of rows) {
  const [, links = '', names = ''] = row.split(' | ')
  const texts = Array.from(links.matchAll(/\]\(([^)]+)\)/g), ([, path = '']) => readText(join(root, 'docs', path)))
  const known = Array.from(names.matchAll(/`([\w.]+)`/g), ([, name = '']) => name)
  const lost = known.filter((name) => !texts.some((text) => has(text, name)))
  if (known.length === 0 || lost.length > 0)
    broken.push(`docs/architecture.md: no file of this row has its name: ${row}`)
}
if (broken.length > 0) {
  process.stderr.write(`These links lead nowhere:\n${broken.join('\n')}\n`)
  process.exitCode = 1
}

function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** Whether a module declares a name, or a migration creates it; of `Class.member` the module has both. */
function has(text: string, name: string): boolean {
  const [first = '', member = first] = name.split('.')
  return (
    new RegExp(`^(?:export|create|function|const) .*\\b${first}\\b`, 'm').test(text) &&
    new RegExp(`\\b${member}\\b`).test(text)
  )
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
