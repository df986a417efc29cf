import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

// Reports broken relative links of the repository's pages, and decisions that no index lists; part of `pnpm check`.

const root = dirname(import.meta.dirname)
const pages = globSync(['*.md', 'docs/**/*.md', '{packages,apps,infra}/*/*.md'], { cwd: root })
const broken = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)].map((match) => match[1]!)
  const lost = targets.filter((target) => !existsSync(join(root, dirname(page), target)))
  return lost.map((target) => `${page}: ${target}`)
})
const index = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8')
for (const path of globSync('docs/decisions/0*.md', { cwd: root })) {
  if (!index.includes(`(${basename(path)})`)) broken.push(`docs/decisions/README.md: ${basename(path)} is not listed`)
}
if (broken.length > 0) {
  process.stderr.write(`These links lead nowhere:\n${broken.join('\n')}\n`)
  process.exitCode = 1
}
