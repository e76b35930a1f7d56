/** The line that ends the output of a job, on both streams. */
export const END = "-- end of the job --";
