import type { Map as MapLibreMap } from 'maplibre-gl'

/** Pixels per CSS pixel of a printed map: 192 dots per inch. */
const PRINTED_RATIO = 2

/** Size of a picture in a list of maps. */
const SMALL = { width: 480, height: 270 }

/**
 * Opens the browser's dialog to print a map or save it as PDF: one page of A4 in landscape with title, legend, scale
 * and attribution. The map is first redrawn in the size of the page, so that its scale is right on paper.
 */
export async function printMap(map: MapLibreMap): Promise<void> {
  const root = document.documentElement
  const [view, bounds, ratio] = [{ center: map.getCenter(), zoom: map.getZoom() }, map.getBounds(), map.getPixelRatio()]
  const legend = document.querySelector<HTMLDetailsElement>('details.map-legend')
  const wasOpen = legend?.open ?? false
  const drawAsBefore = () => {
    root.classList.remove('printing')
    if (legend) legend.open = wasOpen
    map.setPixelRatio(ratio)
    map.resize()
    map.jumpTo(view)
  }
  root.classList.add('printing')
  if (legend) legend.open = true
  map.resize()
  map.setPixelRatio(PRINTED_RATIO)
  map.fitBounds(bounds, { animate: false })
  const picture = await pictureOf(map).catch((error: unknown) => {
    drawAsBefore()
    throw error
  })
  map.getCanvasContainer().append(picture)
  addEventListener(
    'afterprint',
    () => {
      picture.remove()
      URL.revokeObjectURL(picture.src)
      drawAsBefore()
    },
    { once: true },
  )
  print()
}

/** The drawn map as an image, because browsers print a WebGL canvas as blank. */
async function pictureOf(map: MapLibreMap): Promise<HTMLImageElement> {
  await new Promise((resolve) => {
    void map.once('idle', resolve)
    map.triggerRepaint()
  })
  const blob = await pngOf(map)
  const picture = new Image()
  picture.className = 'printed-map'
  picture.alt = ''
  picture.src = URL.createObjectURL(blob)
  await picture.decode()
  return picture
}

/** The map as a PNG. It is read in the same frame as it is drawn, because the engine's buffer is empty afterwards. */
export function pngOf(map: MapLibreMap): Promise<Blob> {
  return new Promise((resolve, reject) => {
    void map.once('render', () =>
      map.getCanvas().toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The map has no picture.')))),
    )
    map.triggerRepaint()
  })
}

/** The middle of the map as a small WebP, in a data URL. It is read in the frame in which it is drawn. */
export function smallPictureOf(map: MapLibreMap): Promise<string> {
  return new Promise((resolve) => {
    void map.once('render', () => {
      const drawn = map.getCanvas()
      const canvas = Object.assign(document.createElement('canvas'), SMALL)
      const scale = Math.max(SMALL.width / drawn.width, SMALL.height / drawn.height)
      const [width, height] = [drawn.width * scale, drawn.height * scale]
      const context = canvas.getContext('2d')!
      context.drawImage(drawn, (SMALL.width - width) / 2, (SMALL.height - height) / 2, width, height)
      resolve(canvas.toDataURL('image/webp', 0.7))
    })
    map.triggerRepaint()
  })
}
