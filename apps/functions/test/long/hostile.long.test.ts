import { hostileRest, hostileSuite } from '../support/hostile-suite.ts'

await hostileSuite('hardened')
await hostileRest()
