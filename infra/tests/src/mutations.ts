import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Visitor, parseSync } from 'oxc-parser'
import { ROOT } from './tiers.ts'

/** One small change of a source file that a test should notice. */
export interface Mutation {
  /** Path from the root of the repository. */
  readonly file: string
  readonly line: number
  readonly start: number
  readonly end: number
  readonly before: string
  readonly after: string
}

const OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
}

/** Every change of a constant, an operator or a condition in the sources of packages and apps, in the order of their paths. */
export function allMutations(): Mutation[] {
  const sources = globSync(['packages/*/src/**/*.ts', 'apps/*/{src,web/src}/**/*.{ts,tsx}'], { cwd: ROOT })
  return sources
    .filter((file) => !/\.(?:test|worker)\.ts$|packages\/testing\/|\/testing\//.test(file))
    .toSorted()
    .flatMap(mutationsOf)
}

function mutationsOf(file: string): Mutation[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found: Mutation[] = []
  const add = (start: number, end: number, after: string) => {
    const line = text.slice(0, start).split('\n').length
    found.push({ file, line, start, end, before: text.slice(start, end), after })
  }
  const addOperator = ({ left, right, operator }: Operation) => {
    const after = OPERATORS[operator]
    if (after === undefined) return
    const start = left.end + text.slice(left.end, right.start).indexOf(operator)
    add(start, start + operator.length, after)
  }
  const visitor = new Visitor({
    BinaryExpression: addOperator,
    LogicalExpression: addOperator,
    IfStatement: ({ test }) => add(test.start, test.end, `!(${text.slice(test.start, test.end)})`),
    ConditionalExpression: ({ test }) => add(test.start, test.end, `!(${text.slice(test.start, test.end)})`),
    Literal({ start, end, value }) {
      if (typeof value === 'number') add(start, end, `${value + 1}`)
      if (typeof value === 'boolean') add(start, end, `${!value}`)
    },
  })
  visitor.visit(parseSync(file, text).program)
  return found
}

interface Operation {
  readonly left: { readonly end: number }
  readonly right: { readonly start: number }
  readonly operator: string
}
