import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Visitor, parseSync } from 'oxc-parser'

// Finds regular expressions that take more than linear time on some input; part of `pnpm check`. It checks every
// literal, `new RegExp('…')` and schema `pattern: '…'` in all code that runs. A check of all takes a minute, so
// expressions that were found safe before are listed in safe-regexes.json and skipped. `node infra/check-regexes.ts
// --update` writes that list, and TERRANE_TEST_ALL=1 checks all of them again.

// The JavaScript implementation, which needs no native program.
process.env['RECHECK_BACKEND'] = 'pure'
const { checkSync } = await import('recheck')

interface Found {
  readonly at: string
  readonly source: string
  readonly flags: string
}

/** Expressions that are slow only on inputs that they never get, with the reason. */
const REVIEWED: ReadonlyMap<string, string> = new Map([
  [
    String.raw`"type"\s*:\s*"(FeatureCollection|Feature|Point|LineString|Polygon|MultiPoint|MultiLineString|MultiPolygon|GeometryCollection)"`,
    'not settled by the search; each part begins with a character that the one before cannot end with',
  ],
  [String.raw`\/+$`, 'a setting of the operator'],
  [String.raw`^\/+|\/+$`, 'a setting of the operator'],
  [String.raw`^s3:\/\/([^/]+)\/?(.*)$`, 'a setting of the operator'],
  [String.raw`<Contents>[^]*?<Key>([^<]*)<\/Key>[^]*?<\/Contents>`, "a listing of the operator's own storage"],
  [String.raw`(?:=> )?(\/\S+) \(0x`, 'the output of ldd for the runtime'],
  ['^_+|_+$', 'a name of at most 63 characters'],
  [
    String.raw`NULL(?=[,}])|"([\s\S]*?)"(?=,"|,NULL[,}]|\}$)`,
    'GDAL closes every list, so that no search is begun again',
  ],
  [String.raw`^\s*([+-]?\d+(?:\.\d+)?)\s*[,;\s]\s*([+-]?\d+(?:\.\d+)?)\s*$`, 'typed into a field of the page'],
  [String.raw`^\s*[+-]?[\d.]*\s*(?:[,;\s]\s*[+-]?(?:\d+\.)?)?$`, 'typed into a field of the page'],
])

const root = dirname(import.meta.dirname)
const list = join(import.meta.dirname, 'safe-regexes.json')
const isUpdate = process.argv.includes('--update')
const known = new Set(
  process.env['TERRANE_TEST_ALL'] === '1' ? [] : (JSON.parse(readFileSync(list, 'utf8')) as string[]),
)
const files = globSync(
  ['{packages,apps}/*/src/**/*.{ts,tsx}', 'apps/*/web/src/**/*.{ts,tsx}', 'infra/local/src/**/*.ts'],
  {
    cwd: root,
  },
).filter((file) => !file.includes('.test.'))

const unique = new Map<string, Found>()
for (const file of files) {
  for (const found of expressionsOf(file)) unique.set(`/${found.source}/${found.flags}`, found)
}
const safe: string[] = []
const slow = [...unique.entries()].flatMap(([text, { at, source, flags }]) => {
  if (REVIEWED.has(source)) return []
  const verdict = known.has(text) ? null : checkSync(source, flags.replace('v', 'u'), { timeout: 120_000 })
  if (verdict === null || verdict.status === 'safe') {
    safe.push(text)
    return []
  }
  const why = verdict.status === 'vulnerable' ? `${verdict.complexity.summary}, ${verdict.attack.pattern}` : 'unknown'
  return [`${at}: ${text} (${why})`]
})
if (isUpdate) writeFileSync(list, `${JSON.stringify(safe.toSorted(), null, 2)}\n`)
if (slow.length > 0) {
  process.stderr.write(`These expressions are slow on some input; read it by hand instead:\n${slow.join('\n')}\n`)
  process.exitCode = 1
}

function expressionsOf(file: string): Found[] {
  const text = readFileSync(join(root, file), 'utf8')
  const found: Found[] = []
  const add = (offset: number, source: string, flags = '') => {
    found.push({ at: `${file}:${text.slice(0, offset).split('\n').length}`, source, flags })
  }
  const visitor = new Visitor({
    Literal(node) {
      if ('regex' in node && node.regex) add(node.start, node.regex.pattern, node.regex.flags)
    },
    NewExpression({ callee, arguments: [pattern], start }) {
      if (callee.type === 'Identifier' && callee.name === 'RegExp' && pattern?.type === 'Literal') {
        add(start, String(pattern.value))
      }
    },
    Property({ key, value, start }) {
      if (key.type === 'Identifier' && key.name === 'pattern' && value.type === 'Literal')
        add(start, String(value.value))
    },
  })
  visitor.visit(parseSync(file, text).program)
  return found
}
