import { checkLayer, checkWhole, failure, plainComplaint, type Engine, type Layer } from '../engine.ts'
import { GdalError, convertLayers, gdalFolder, loadGdal, type GdalModule } from '../gdal-module.ts'

let loading: Promise<GdalModule> | null = null
let messages: string[] = []

/** Converts in this process with one shared GDAL, for tests of values; otherwise each test would load its 30 MB. */
export const gdalHere: Engine = {
  async convert(conversion, _workdir, signal) {
    signal.throwIfAborted()
    const gdal = await (loading ??= loadGdal(gdalFolder(), (text) => messages.push(text)))
    messages = []
    let layers: Layer[] = []
    try {
      convertLayers(gdal, conversion, (found) => {
        layers = found
      })
    } catch (error) {
      // After a trap its memory cannot be relied on.
      if (!(error instanceof GdalError)) loading = null
      messages.push((error as Error).message)
      checkLayer(layers, conversion.layer)
      throw failure(plainComplaint(messages.join('\n')))
    }
    checkLayer(layers, conversion.layer)
    checkWhole(messages.join('\n'))
    return layers
  },
}
