import { hostilePlatform } from '../support/hostile-platform.ts'
import { hostileSurfaces } from '../support/hostile-surfaces.ts'

await hostileSurfaces('standard')
await hostileSurfaces('hardened')
await hostilePlatform('standard')
await hostilePlatform('hardened')
