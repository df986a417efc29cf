import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import base from './vitest.config.ts'

// Suites that take minutes: real data, hierarchies against Dijkstra by the thousand, crashes at random points.

/** Suites that do their own work and measure nobody else's. Three run at once: they wait for processes more than they compute. */
const TOGETHER = ['apps/{worker,cli,origin}', 'packages/{tiling,routing,database,storage}']
  .map((folder) => `${folder}/test/long/**/*.long.test.ts`)
  // The others of the folder install the same tools into the same place.
  .concat('infra/packaging/test/long/packages.long.test.ts')
  // Of the functions host what its everyday tests do, only more of it.
  .concat('apps/functions/test/long/{deploys,hostile,hostile-deploys,hostile-surfaces,storage-faults}.long.test.ts')

/** What measures memory or how long neighbours wait, and what packs the packages where they lie. */
const ALONE = [
  'infra/packaging/test/long/{browser,command-line}.long.test.ts',
  'infra/local/test/long/{hostile-requests,uploads}.long.test.ts',
  'infra/e2e/test/long/large-uploads.long.test.ts',
]

/** Suites of two minutes and more. They begin first, so that none of them runs on when all others have ended. */
const SLOWEST =
  /(?:kill|stop|collections|checkpoint|deploys|hostile-surfaces|storage-faults|docs|folders|rolling)\.long/

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- The order that vitest gives files, not an array's method.
    const { slow = [], others = [] } = Object.groupBy(await super.sort(files), ({ moduleId }) =>
      SLOWEST.test(moduleId) ? 'slow' : 'others',
    )
    return [...slow, ...others]
  }
}

const shared = {
  ...base.test,
  exclude: ['**/node_modules/**'],
  testTimeout: 900_000,
  hookTimeout: 300_000,
}

export default defineConfig({
  test: {
    sequence: { sequencer: SlowestFirst },
    projects: [
      { test: { ...shared, name: 'together', include: TOGETHER, maxWorkers: 3, sequence: { groupOrder: 1 } } },
      {
        // Whole stacks, most of which wait for a browser or for each other.
        test: {
          ...shared,
          name: 'stacks',
          include: ['*/*/test/long/**/*.long.test.ts'],
          exclude: ['**/node_modules/**', ...TOGETHER, ...ALONE],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...shared,
          name: 'alone',
          include: ALONE,
          sequence: { groupOrder: 3 },
          maxWorkers: 1,
          fileParallelism: false,
        },
      },
    ],
  },
})
