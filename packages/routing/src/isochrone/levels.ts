import type { Contour } from './request.ts'

/** Value of a contour, in seconds or metres. */
export interface Level {
  readonly isTime: boolean
  readonly value: number
}

export function levelOf({ metric, value }: Pick<Contour, 'metric' | 'value'>): Level {
  return metric === 'time' ? { isTime: true, value: value * 60 } : { isTime: false, value: value * 1000 }
}
