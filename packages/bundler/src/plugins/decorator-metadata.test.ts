import { expect, test } from 'vitest'
import { bundleFolder } from '../bundle.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withDecoratorMetadata } from './decorator-metadata.ts'

const SOURCE = `
import type { Hidden } from './other.ts'
import { Shape, Service, Level } from './other.ts'
namespace Nested { export const level = 1 }
const seen: unknown[] = []
const names = new Map<unknown, string>([[String, 'String'], [Number, 'Number'], [Object, 'Object'], [Function, 'Function'], [Promise, 'Promise'], [Array, 'Array'], [Service, 'Service'], [undefined, 'undefined']])
const name = (value: unknown) => Array.isArray(value) ? value.map((each) => names.get(each)) : names.get(value)
;(Reflect as any).metadata = (key: string, value: unknown) => (target: any, member?: string) => void seen.push([member ?? target.name, key.slice(7), name(value)])
const Mark = (): any => () => {}
@Mark() export class Shop<T> {
  @Mark() title: string | null = ''
  @Mark() get size(): number { return 1 }
  constructor(private readonly service: Service, readonly shape: Shape, hidden: Hidden, text: 'a' | 'b', list: T[], one: T, count = 1) {}
  @Mark() level: Level = Level.High
  @Mark() far: Nested.Inner.Deep | null = null
  @Mark() async find(id: number, ...rest: string[]) { return [id, rest] }
  @Mark() both(): Promise<void> { return Promise.resolve() }
  plain(): string { return '' }
}
class Unmarked { constructor(readonly service: Service) {} }
export default { seen, Unmarked }
`

test('types of decorated classes and members are there at run time, as TypeScript emits them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-metadata-'))
  await writeFile(join(folder, 'index.ts'), SOURCE)
  await writeFile(
    join(folder, 'other.ts'),
    'export interface Hidden { a: 1 }; export interface Shape { b: 1 }; export class Service {}; export enum Level { High }',
  )
  await writeFile(
    join(folder, 'tsconfig.json'),
    `{ "compilerOptions": { "experimentalDecorators": true, "emitDecoratorMetadata": true } }`,
  )
  const { code } = await bundleFolder(folder, null)
  await writeFile(join(folder, 'out.mjs'), code)
  const { default: found } = (await import(join(folder, 'out.mjs'))) as { default: { seen: unknown[] } }
  expect(found.seen).toEqual([
    ['title', 'type', 'String'],
    ['size', 'type', 'Number'],
    ['level', 'type', 'Object'],
    ['far', 'type', 'Object'],
    ['find', 'returntype', 'Promise'],
    ['find', 'paramtypes', ['Number', 'Object']],
    ['find', 'type', 'Function'],
    ['both', 'returntype', 'Promise'],
    ['both', 'paramtypes', []],
    ['both', 'type', 'Function'],
    ['Shop', 'paramtypes', ['Service', 'Object', 'Object', 'String', 'Array', 'Object', 'Object']],
  ])
  await rm(folder, { recursive: true })
})

test('lines stay, and a source with an error or without decorators is left as it is', async () => {
  const code = `@Mark()\nclass A {\n  constructor(@In() a: B) {}\n}`
  const lines = (await withDecoratorMetadata('a.ts', code)).split('\n')
  expect([lines[1], lines[3], lines.length]).toEqual(['class A {', '}', 5])
  for (const same of ['class A { constructor(a: B) {} } // @', '@Mark() class {'])
    expect(await withDecoratorMetadata('a.ts', same)).toBe(same)
})
