/** The model that every worker has. */
export const BUILT_IN_MODEL = 'builtin-texture-spectral-v2'

/** A model of images as `GET /worker/capacity` lists it. */
export interface ModelState {
  readonly id: string
  readonly available: boolean
  readonly is_default: boolean
}

/**
 * Model for a form when the weights of the default are missing: the built-in one, or else the first available one;
 * undefined when they are present.
 */
export function modelInstead(models: readonly ModelState[]): string | undefined {
  if (!models.some((model) => model.is_default && !model.available)) return undefined
  const there = models.filter(({ available }) => available).map(({ id }) => id)
  return there.includes(BUILT_IN_MODEL) ? BUILT_IN_MODEL : there[0]
}
