import { hostileSurfaces } from '../support/hostile-surfaces.ts'

await hostileSurfaces('standard')
await hostileSurfaces('hardened')
