import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

// Suites that take minutes: real data, hierarchies against Dijkstra by the thousand, crashes at random points.
export default defineConfig({
  test: {
    ...base.test,
    include: ['*/*/test/long/**/*.long.test.ts'],
    exclude: ['**/node_modules/**'],
    testTimeout: 900_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
})
