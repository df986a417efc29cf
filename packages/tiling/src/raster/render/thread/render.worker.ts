import { serveThread } from '@terrane/core/threads'
import { answer } from './answer.ts'
import type { ReadEvent, RenderMethods } from './messages.ts'
import { ImageOpener } from './open-image.ts'

serveThread<null, RenderMethods, ReadEvent>((_, emit) => {
  const images = new ImageOpener(emit)
  return { render: ({ request, ...image }) => answer(images.open(image), request) }
})
