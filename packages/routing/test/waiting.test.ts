import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

import { townPbf } from './support/town.ts'

it('a script that waits for a hierarchy goes on when it is ready, and ends by itself', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-waiting-'))
  try {
    const extract = join(folder, 'town.osm.pbf')
    writeFileSync(extract, townPbf())
    const script = `
      const { fileSource, openOsm } = await import(${JSON.stringify(import.meta.resolve('@terrane/osm'))})
      const { buildNetwork, Router } = await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)})
      const router = new Router(await buildNetwork([await openOsm(await fileSource(${JSON.stringify(extract)}))]))
      const locations = [{ lat: 48.0975, lon: 11.5922 }, { lat: 48.1085, lon: 11.5879 }]
      const ready = await router.ready({ locations, costing: 'auto', costing_options: { auto: { use_highways: 0 } } })
      console.log('ready', ready)`
    writeFileSync(join(folder, 'script.mjs'), script)
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'script.mjs')])
    expect(stdout).toBe('ready true\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
