import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

// Suites that take minutes: real data, hierarchies against Dijkstra by the thousand, crashes at random points.

/** Suites that do their own work and measure nobody else's. Three run at once: they wait for processes more than they compute. */
const TOGETHER = ['apps/{worker,cli,origin}', 'packages/{tiling,routing,database}']
  .map((folder) => `${folder}/test/long/**/*.long.test.ts`)
  // The others of the folder install the same tools into the same place.
  .concat('infra/packaging/test/long/packages.long.test.ts')
  // Of the functions host what its everyday tests do, only more of it.
  .concat('apps/functions/test/long/{deploys,hostile,hostile-deploys,hostile-surfaces,storage-faults}.long.test.ts')

const shared = {
  ...base.test,
  exclude: ['**/node_modules/**'],
  testTimeout: 900_000,
  hookTimeout: 300_000,
}

export default defineConfig({
  test: {
    projects: [
      { test: { ...shared, name: 'together', include: TOGETHER, maxWorkers: 3, sequence: { groupOrder: 1 } } },
      {
        // Whole stacks, and what measures memory or how long neighbours wait.
        test: {
          ...shared,
          name: 'alone',
          include: ['*/*/test/long/**/*.long.test.ts'],
          exclude: ['**/node_modules/**', ...TOGETHER],
          sequence: { groupOrder: 2 },
          maxWorkers: 1,
          fileParallelism: false,
        },
      },
    ],
  },
})
