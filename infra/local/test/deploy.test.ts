import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Every variable that an app reads, set or in a comment of `.env.example`, and the one that Node itself reads. */
const known = new Set([
  'NODE_OPTIONS',
  ...[...read('.env.example').matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map((match) => match[1]),
])

test('.env.example is a file that can be loaded', () => {
  const values = parseEnv(read('.env.example'))
  expect(values).toHaveProperty('DATABASE_URL', '')
  expect(known.size).toBeGreaterThan(50)
})

test('compose.yaml sets only variables that an app reads', () => {
  const { services } = parse(read('infra/compose.yaml'), { merge: true }) as {
    services: Record<string, { environment?: Record<string, string> }>
  }
  expect(Object.keys(services).toSorted()).toEqual(['console', 'database', 'functions', 'origin', 'router', 'worker'])
  for (const [name, { environment = {} }] of Object.entries(services)) {
    const unknown = Object.keys(environment).filter((key) => !known.has(key) && key !== 'POSTGRES_PASSWORD')
    expect(unknown, name).toEqual([])
  }
})

test('the Kubernetes manifests set only variables that an app reads, and name one image and service per app', () => {
  const paths = globSync('infra/kubernetes/*.yaml', { cwd: root }).filter(
    (path) => !path.endsWith('kustomization.yaml'),
  )
  expect(paths).toHaveLength(5)
  for (const path of paths) {
    const [deployment, service] = parseAllDocuments(read(path)).map((document) => document.toJS() as Manifest)
    const [container] = deployment?.spec.template?.spec.containers ?? []
    expect(container?.image, path).toBe(`terrane-${service?.metadata.name}`)
    expect(
      container?.env.map(({ name }) => name).filter((name) => !known.has(name)),
      path,
    ).toEqual([])
    expect(container?.ports[0]?.containerPort, path).toBe(service?.spec.ports?.[0]?.port)
  }
})

interface Manifest {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly template?: { readonly spec: { readonly containers: readonly Container[] } }
    readonly ports?: readonly { readonly port: number }[]
  }
}
interface Container {
  readonly image: string
  readonly ports: readonly { readonly containerPort: number }[]
  readonly env: readonly { readonly name: string }[]
}
