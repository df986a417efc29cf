// Slow: each attack ends an instance, which starts again.
import { hostileSuite } from './support/hostile-suite.ts'

// The hardened profile: long/hostile.long.test.ts.
await hostileSuite('standard')
