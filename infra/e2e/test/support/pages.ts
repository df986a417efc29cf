import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/** A code block of a page: the code, and its output as shown on the page, if any. */
export interface Block {
  readonly line: number
  readonly language: string
  readonly code: string
  /** True for blocks that cannot run on this machine: they need the network, or contain another host's name. */
  readonly isElsewhere: boolean
  readonly shown: string | null
}

/** Pages with terminal commands. Each is run separately, from its first block to its last. */
export function followedPages(): string[] {
  return ['docs/quickstart.md', ...globSync('docs/{tasks,recipes,routing}/*.md', { cwd: ROOT }).toSorted(), ...READMES]
}

/** Other pages that need a stack. */
const READMES = [
  'apps/cli/README.md',
  'apps/origin/README.md',
  'docs/operations.md',
  'packages/control/README.md',
  'packages/testing/README.md',
]

/** Pages whose code is not run, neither on a stack nor in a test of their package. */
export function pagesNotFollowed(): string[] {
  const followed = new Set(followedPages())
  const pages = globSync(['README.md', 'docs/**/*.md', '{apps,packages,infra}/*/README.md'], { cwd: ROOT })
  return pages.filter((page) => {
    const tests = globSync('test/*.test.ts', { cwd: join(ROOT, dirname(page)) })
    const isTested = tests.some((test) => readFileSync(join(ROOT, dirname(page), test), 'utf8').includes('README.md'))
    if (followed.has(page) || isTested) return false
    return /^```(?!text\b)\w|^ {4}(?:npm|node|curl|terrane|export) /m.test(readFileSync(join(ROOT, page), 'utf8'))
  })
}

/**
 * The code blocks of a page. A `text` block is the output of the previous one; `elsewhere` after the language excludes
 * a block from being run.
 */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  const text = readFileSync(join(ROOT, page), 'utf8')
  for (const match of text.matchAll(/^```(\w+)( elsewhere)?\n([\s\S]*?)^```$/gm)) {
    const [, language = '', elsewhere, code = ''] = match
    const last = blocks.at(-1)
    if (language === 'text' && last) blocks[blocks.length - 1] = { ...last, shown: code }
    else {
      const line = text.slice(0, match.index).split('\n').length
      blocks.push({ line, language, code, isElsewhere: elsewhere !== undefined, shown: null })
    }
  }
  return blocks
}

/** Whether an output matches the one on the page. `…` stands for any text; line breaks and indentation may differ. */
export function looksAsShown(output: string, shown: string): boolean {
  const pattern = bare(shown)
    .split('…')
    .map((part) => RegExp.escape(part))
  return new RegExp(`^${pattern.join('.*')}$`).test(bare(output))
}

function bare(text: string): string {
  return text.replaceAll(/\s+/g, '')
}
