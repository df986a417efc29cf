import { defineConfig } from 'vitest/config'
import { TEST_FILES } from './infra/tests/src/tiers.ts'

// How every test file runs; which tier it belongs to and what follows from that is decided in infra/tests/src/tiers.ts.
export default defineConfig({
  test: {
    include: TEST_FILES,
    exclude: ['**/node_modules/**', '**/*.long.test.ts'],
    setupFiles: ['infra/tests/src/observe-file.ts'],
    pool: 'forks',
    // One process runs many files, so that modules are loaded, and engines of databases started, once. A file puts back
    // what it changes for its process.
    isolate: false,
    // One function of the embedded database takes V8 three seconds and 600 MB to optimize, and few run for so long that
    // it is worth it. The default is 13 million bytes of code executed.
    execArgv: ['--wasm-tiering-budget=1000000000'],
    // For tests that open the ONNX runtime themselves; Terrane's engine sets it where it is needed.
    env: { ORT_DISABLE_TELEMETRY: '1' },
    maxWorkers: 1,
    // Only a hang ends by the clock: a slow machine must not fail a test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Node strips the types itself: sources run in tests exactly as they run in production. Through the module runner
    // of vitest a hot loop is an order of magnitude slower.
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
})
