print("tenfour")
