import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

// The long suites, each of which runs in a process of its own (infra/tests/src/long.ts): real data, hierarchies against
// Dijkstra by the thousand, crashes at random points.
export default defineConfig({
  test: {
    ...base.test,
    exclude: ['**/node_modules/**'],
    testTimeout: 900_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 300_000 } },
  },
})
