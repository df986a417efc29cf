import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'packages/*/{src,test}/**/*.test.ts',
      'apps/*/{src,test,web/src}/**/*.test.ts',
      'infra/*/{src,test}/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/*.long.test.ts'],
    pool: 'forks',
    // One function of the embedded database takes V8 three seconds and 600 MB to optimize, and each test begins anew: only
    // what runs for seconds is worth it. The default is 13 million bytes of code executed.
    execArgv: ['--wasm-tiering-budget=1000000000'],
    // For tests that open the ONNX runtime themselves; Terrane's engine sets it where it is needed.
    env: { ORT_DISABLE_TELEMETRY: '1' },
    // Most of a test's time is spent waiting for a database or a child process: two run at once, also on two cores.
    maxWorkers: 2,
    // What is waited for comes sooner or later; how soon, on a machine that does much else, is not what a test is about.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Node strips the types itself: sources run in tests exactly as they run in production. Through the module runner
    // of vitest a hot loop is an order of magnitude slower.
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
})
