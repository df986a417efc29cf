import { hostileSuite } from '../support/hostile-suite.ts'

await hostileSuite('hardened')
