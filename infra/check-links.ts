import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// Says which relative links of the repository's pages lead nowhere: part of `pnpm check`.

const root = dirname(import.meta.dirname)
const pages = globSync(['*.md', 'docs/**/*.md', '{packages,apps,infra}/*/*.md'], { cwd: root })
const broken = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)].map((match) => match[1])
  const lost = targets.filter((target) => !existsSync(join(root, dirname(page), target)))
  return lost.map((target) => `${page}: ${target}`)
})
if (broken.length > 0) {
  process.stderr.write(`These links lead nowhere:\n${broken.join('\n')}\n`)
  process.exitCode = 1
}
