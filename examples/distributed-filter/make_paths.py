"""Makes a data set of paths, in four partitions, and the same paths as a list:

python3 make_paths.py COUNT DATA_SET LIST"""
import sys

import duckdb

PATHS = """
    SELECT CASE
        WHEN i % 1000 = 0 THEN '/archive/' || i || '/*'
        WHEN i % 1000 = 1 THEN '/café/' || i
        ELSE '/blog/' || (i % 1000) || '/' || md5(i::VARCHAR) || '/index.html'
    END AS path
    FROM range(?) AS numbers(i)
"""
# A path is in one partition only, even if it is there twice.
PARTITIONED = "SELECT path, hash(path) % 4 AS part FROM paths"


def main(count, data_set, paths_list):
    paths = duckdb.sql(PATHS, params=[int(count)])
    paths.query("paths", PARTITIONED).write_parquet(data_set, partition_by=["part"], overwrite=True)
    paths.write_csv(paths_list, header=False, sep="\t", quotechar="")


if __name__ == "__main__":
    main(*sys.argv[1:])
