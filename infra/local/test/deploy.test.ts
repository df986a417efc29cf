import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** All variables of the apps, set or commented in `.env.example`, and variables of Node and the C library. */
const known = new Set([
  'NODE_OPTIONS',
  'MALLOC_ARENA_MAX',
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
